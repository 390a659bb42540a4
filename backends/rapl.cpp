// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <fstream>
#include <vector>

#include "backends/backend.hpp"
#include "backends/energy.hpp"

namespace league {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::uint64_t value = 0;
  return std::ifstream(file) >> value ? std::optional(value) : std::nullopt;
}

/// Sums the counters of the packages, each of which begins anew after its maximum.
class Rapl final : public EnergyCounter {
 public:
  /// Adds a domain if it is a package. @returns whether its counter can be read
  bool add(const fs::path& domain) {
    const auto now = number_in(domain / "energy_uj"), range = number_in(domain / "max_energy_range_uj");
    if (!now || !range) return false;
    packages_.push_back({domain / "energy_uj", *range, *now});
    return true;
  }
  [[nodiscard]] bool empty() const { return packages_.empty(); }
  [[nodiscard]] std::string name() const override {
    return "RAPL, " + std::to_string(packages_.size()) + (packages_.size() == 1 ? " package" : " packages");
  }
  EnergyReading read() override {
    for (Package& package : packages_) {
      const auto now = number_in(package.file);
      if (!now) throw std::runtime_error(package.file.string() + " cannot be read any more");
      const std::uint64_t wrapped = *now < package.last ? package.range : 0;
      microjoules_ += *now + wrapped - package.last;
      package.last = *now;
    }
    return {.joules = static_cast<double>(microjoules_) * 1e-6};
  }

 private:
  struct Package {
    fs::path file;
    std::uint64_t range, last;
  };
  std::vector<Package> packages_;
  std::uint64_t microjoules_ = 0;
};

bool is_package(const fs::path& domain) {
  std::string name;
  return std::ifstream(domain / "name") >> name && name.starts_with("package");
}

}  // namespace

std::unique_ptr<EnergyCounter> rapl_counter(const fs::path& folder) {
  auto counter = std::make_unique<Rapl>();
  std::string unreadable;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (is_package(entry.path()) && !counter->add(entry.path())) unreadable = entry.path() / "energy_uj";
  if (!unreadable.empty())
    throw Unsupported("RAPL: " + unreadable + " may not be read (by root only, on most systems)");
  if (counter->empty()) throw Unsupported("RAPL: " + folder.string() + " has no processor package");
  return counter;
}

}  // namespace league
