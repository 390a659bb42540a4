// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/try/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "algorithms/contract/with_type.hpp"
#include "bench/measure/clock.hpp"

namespace league::bench {
namespace {

constexpr int max_runs = 10;
constexpr double max_s = 2;
/// Larger than what another order of additions makes.
constexpr double order_in_double = 1e-9, order_in_float = 1e-4;

using Copies = std::vector<std::vector<std::byte>>;

Copies copies_of(const Outputs& outputs) {
  Copies copies;
  for (const Output& output : outputs) copies.emplace_back(output.values.bytes().begin(), output.values.bytes().end());
  return copies;
}

/// "12 of 1000 values of `sum`, from [4] to [999]"; empty if `holds` for none.
std::string counted(const Output& output, const std::function<bool(std::size_t)>& holds) {
  std::size_t count = 0, first = 0, last = 0;
  const auto size = static_cast<std::size_t>(output.values.size());
  for (std::size_t i = 0; i < size; ++i) {
    if (!holds(i)) continue;
    if (count++ == 0) first = i;
    last = i;
  }
  if (count == 0) return {};
  return std::to_string(count) + " of " + std::to_string(size) + " values of `" + output.name + "`, from [" +
         std::to_string(first) + "] to [" + std::to_string(last) + "]";
}

/// Values that still are poison.
std::string unwritten(const Outputs& outputs) {
  for (const Output& output : outputs) {
    const std::size_t size = size_bytes(output.values.dtype());
    const auto bytes = output.values.bytes();
    std::string found = counted(output, [&](std::size_t i) {
      return std::ranges::all_of(bytes.subspan(i * size, size), [](std::byte byte) { return byte == std::byte{0xff}; });
    });
    if (!found.empty()) return found;
  }
  return {};
}

template <class T>
bool differ(T one, T other) {
  if constexpr (std::is_integral_v<T>) return one != other;
  const auto order = sizeof(T) == sizeof(double) ? order_in_double : order_in_float;
  const auto first = static_cast<double>(one), second = static_cast<double>(other);
  return std::isnan(first) != std::isnan(second) ||
         std::abs(first - second) > order * std::max(std::abs(first), std::abs(second));
}

std::string different(const Outputs& outputs, const Copies& before) {
  for (std::size_t number = 0; number < outputs.size(); ++number) {
    const Output& output = outputs[number];
    std::string found =
        with_type<float, double, std::int32_t, std::int64_t, std::uint8_t>(output.values.dtype(), [&]<class T>() {
          const auto now = output.values.values<const T>();
          return counted(output, [&](std::size_t i) {
            T then{};
            std::memcpy(&then, before[number].data() + i * sizeof(T), sizeof(T));
            return differ(then, now[i]);
          });
        });
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

std::string diagnose(Outputs& outputs, const std::function<void()>& again) {
  const std::string missing = unwritten(outputs);
  const Copies first = copies_of(outputs);
  try {
    const Stopwatch watch;
    for (int run = 0; run < max_runs && (run < 3 || watch.seconds() < max_s); ++run) {
      again();
      const std::string found = different(outputs, first);
      if (!found.empty())
        return "; not the same in every run: " + found + ": a race, such as a missing synchronisation or atomic";
    }
  } catch (const std::exception& error) {
    return std::string("; run once more: ") + error.what();
  }
  return missing.empty() ? "" : "; never written: " + missing + ": a lost remainder?";
}

bool means_same(const std::string& one, const std::string& other) {
  if (one == other) return true;
  char *end = nullptr, *end_of_other = nullptr;
  const double number = std::strtod(one.c_str(), &end), number_of_other = std::strtod(other.c_str(), &end_of_other);
  return !one.empty() && !other.empty() && *end == '\0' && *end_of_other == '\0' && number == number_of_other;
}

}  // namespace league::bench
