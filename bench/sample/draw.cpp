// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/sample/draw.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "bench/study/value.hpp"

namespace league::bench {
namespace {

bool is_prime(std::int64_t value) {
  if (value < 2) return false;
  for (std::int64_t divisor = 2; divisor * divisor <= value; ++divisor)
    if (value % divisor == 0) return false;
  return true;
}

std::int64_t next_prime(std::int64_t value) {
  while (!is_prime(value)) ++value;
  return value;
}

/// A parameter that is no size: its default, or log-uniform up to four times that.
std::int64_t draw_integer(Random& random, const Parameter& parameter) {
  const std::int64_t default_value = std::stoll(parameter.default_value);
  if (random.chance(0.3)) return default_value;
  const auto max =
      static_cast<double>(std::min<std::int64_t>(parameter.max, std::max<std::int64_t>(4 * default_value, 256)));
  return draw_extent(random, random.real() * std::log2(max), parameter.min, parameter.max);
}

/// A real number: its default, or some powers of ten less; 0.01 where the default is 0.
std::string draw_real(Random& random, const Parameter& parameter) {
  if (random.chance(0.4)) return parameter.default_value;
  const double default_value = std::stod(parameter.default_value);
  return shortest(default_value == 0 ? 0.01 : default_value / std::pow(10.0, 1 + random.below(4)));
}

}  // namespace

std::int64_t draw_extent(Random& random, double exponent, std::int64_t min, std::int64_t max) {
  const auto value = std::max<std::int64_t>(1, std::llround(std::exp2(exponent)));
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(value)));
  constexpr std::int64_t prime = -1;  // placeholder: a prime takes long to find
  const std::array<std::int64_t, 8> kinds{value, value, value | 1, prime, power - 1, power + 1, power, min};
  const std::int64_t drawn = random.one_of<std::int64_t>(kinds);
  return std::clamp(drawn == prime ? next_prime(value) : drawn, min, max);
}

Parameters draw_parameters(Random& random, const Algorithm& algorithm, double exponent) {
  const auto is_size = [](const Parameter& parameter) { return parameter.kind == Parameter::Kind::size; };
  const auto is_fixed = [](const Parameter& one) { return one.min == one.max || !one.choices.empty(); };  // sizes
  std::vector<double> shares;  // of the exponent that fixed sizes leave
  for (const Parameter& parameter : algorithm.parameters)
    if (is_size(parameter)) {
      if (is_fixed(parameter)) exponent -= std::log2(std::stod(parameter.default_value));
      shares.push_back(is_fixed(parameter) ? 0 : random.real() + 0.05);
    }
  double whole = 0;
  for (const double share : shares) whole += share;
  const double elements = random.real() * exponent;
  Parameters drawn;
  auto share = shares.begin();
  for (const Parameter& parameter : algorithm.parameters) {
    std::string& text = drawn.values[parameter.name];
    const std::int64_t min = std::max<std::int64_t>(parameter.min, algorithm.needs_dataset ? 1 : 0);
    if (is_size(parameter) && is_fixed(parameter))
      text = parameter.default_value;
    else if (is_size(parameter))
      text = std::to_string(draw_extent(random, elements * *share / whole, min, parameter.max));
    else if (parameter.kind == Parameter::Kind::integer)
      text = std::to_string(draw_integer(random, parameter));
    else if (parameter.kind == Parameter::Kind::real)
      text = draw_real(random, parameter);
    else
      text = random.one_of<std::string>(parameter.choices);
    if (is_size(parameter)) ++share;
  }
  return drawn;
}

Launch draw_launch(Random& random, DeviceKind kind) {
  if (random.chance(0.5)) return {};
  const bool gpu = kind == DeviceKind::gpu;
  static constexpr std::array leagues{0, 0, 1, 2, 7, 40, 131, 132, 264, 1000, 65537};
  static constexpr std::array gpu_teams{0, 0, 1, 2, 31, 32, 33, 64, 96, 128, 200, 256, 512, 1024};
  static constexpr std::array host_teams{0, 0, 1, 2};
  static constexpr std::array vectors{0, 0, 1, 2, 4, 8, 16, 32};
  static constexpr std::array tiles{0, 0, 0, 0, 1, 3, 8, 16, 32, 64, 128, 1000};
  return {.league = random.one_of<int>(leagues),
          .team = gpu ? random.one_of<int>(gpu_teams) : random.one_of<int>(host_teams),
          .vector = gpu ? random.one_of<int>(vectors) : 0,
          .tile = random.one_of<int>(tiles)};
}

}  // namespace league::bench
