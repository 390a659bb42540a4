// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/floors.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "backends/model.hpp"
#include "bench/measure/interval.hpp"
#include "bench/record/progress.hpp"

namespace league::bench {
namespace {

constexpr double caches = 4;     // data below this many last-level caches may stay there
constexpr double alike = 2;      // ratio of sizes up to which a bandwidth in cache holds for another size
constexpr double steady = 1.25;  // median over fastest sample of a peak, up to which the machine was not busy

std::string word(const Json& row, const char* key) { return row.at(key).get<std::string>(); }
double cost(const Json& row, const char* key) { return row.at("cost").at(key).get<double>(); }

/// Passed, on one device of one process, and of bytes or operations that are its own.
bool is_comparable(const Json& row) {
  return word(row, "status") == "passed" && row.at("devices") == 1 && !row.at("samples").empty();
}

/// Compiled kernels of this project and of libraries that do nothing but what a peak is of; peers set none.
bool sets_peaks(const Json& row) {
  static constexpr std::array algorithms{"ceilings", "vector_add", "sum"};
  return std::ranges::find(algorithms, word(row, "algorithm")) != algorithms.end() &&
         model_facts(word(row, "model")) != nullptr;
}

/// The seconds of a kernel that are no start of it. Starting takes about 2 us on a GPU. On a host it is a region of
/// many threads, which one thread without such a region beats: a short kernel tells no bandwidth there.
double moving_s(const Json& row, double seconds) {
  if (word(row, "device_kind") == "gpu") return seconds - 2e-6;
  return seconds < 100e-6 ? 0 : seconds - 5e-6;
}

std::vector<double> samples_of(const Json& row) { return row.at("samples").get<std::vector<double>>(); }
double median_of(const Json& row) { return median(samples_of(row)); }

/// "4.1e+12".
std::string short_text(double value, const char* unit) {
  std::array<char, 48> digits{};
  std::snprintf(digits.data(), digits.size(), "%.3g %s", value, unit);
  return digits.data();
}

}  // namespace

Floors::Floors(const Json& context) {
  for (const Json& device : context.at("league").at("devices")) {
    double& bytes = cache_bytes_[device.at("kind").get<std::string>()];
    bytes = std::max(bytes, device.value("llc_bytes", 0.0));
  }
}

void Floors::learn(const Json& row) {
  if (!sets_peaks(row) || !is_comparable(row)) return;
  const bool was_busy = median_of(row) > steady * std::ranges::min(samples_of(row));
  if (was_busy && word(row, "algorithm") == "ceilings") return;
  Peaks& peaks = peaks_[word(row, "device_kind")];
  const double seconds = median_of(row), operations = cost(row, "operations"), bytes = cost(row, "bytes");
  if (operations > bytes && word(row, "algorithm") == "ceilings")
    peaks.rates[word(row, "unit")] = std::max(peaks.rates[word(row, "unit")], operations / seconds);
  else
    peaks.bandwidths.push_back({bytes, seconds, word(row, "algorithm") != "ceilings"});
}

std::optional<double> Floors::bandwidth(const Json& row, const Peaks& peaks) const {
  const auto known = cache_bytes_.find(word(row, "device_kind"));
  const double cached = known == cache_bytes_.end() ? 0 : caches * known->second, bytes = cost(row, "bytes");
  double measured = 0, seen = 0;
  for (const Bandwidth& one : peaks.bandwidths) {
    const bool in_memory = cached > 0 && bytes >= cached && one.bytes >= cached;
    const bool as_large = one.bytes <= alike * bytes && bytes <= alike * one.bytes;
    if (!in_memory && !as_large) continue;
    const double seconds = in_memory || one.was_seen ? one.seconds : moving_s(row, one.seconds);
    double& highest = one.was_seen ? seen : measured;
    if (seconds > 0) highest = std::max(highest, one.bytes / seconds);
  }
  if (measured == 0) return {};  // what was seen of kernels that are compared raises a peak, and sets none
  return std::max(measured, seen);
}

bool Floors::judge(Json& row) const {
  const auto found = peaks_.find(word(row, "device_kind"));
  if (word(row, "algorithm") == "ceilings" || found == peaks_.end() || !is_comparable(row)) return false;
  const double seconds = median_of(row), bytes = cost(row, "bytes"), operations = cost(row, "operations");
  const double share = word(row, "device_kind") == "host" ? least_host_share : least_share;
  const auto fails = [&](double floor_s, const std::string& work, const std::string& peak) {
    if (seconds >= share * floor_s) return;
    const std::string reason = readable_sample(seconds) + " for " + work + ": less than " +
                               short_text(share, "of the ") + readable_sample(floor_s) +
                               " that they take at the measured " + peak + "; it has not done its work";
    row["status"] = "failed";
    row["reason"] = reason;
    row["error_occurred"] = true;
    row["error_message"] = "failed: " + reason;
  };
  if (const auto per_s = bandwidth(row, found->second); per_s && bytes > 0)
    fails(bytes / *per_s, short_text(bytes * 1e-6, "MB"), short_text(*per_s * 1e-9, "GB/s"));
  const auto& rates = found->second.rates;
  double highest = 0;  // of all units of the processor; of matrix units only those that can solve the problem
  for (const auto& [unit, rate] : rates)
    if (unit.find("tensor") == std::string::npos || unit == word(row, "best_unit")) highest = std::max(highest, rate);
  if (word(row, "status") == "passed" && highest > 0 && rates.contains(word(row, "best_unit")))
    fails(operations / highest, short_text(operations * 1e-6, "million operations"),
          short_text(highest * 1e-9, "GOP/s"));
  return word(row, "status") != "passed";
}

}  // namespace league::bench
