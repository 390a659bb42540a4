// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/stopping.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "bench/measure/interval.hpp"

namespace league::bench {
namespace {

constexpr int first_look = 10;  // intervals of fewer samples are too often narrow by chance

/// Whether the noise of a case is that between its placements, which more samples do not narrow: the samples at one
/// placement have at most a quarter of the noise asked for, a sixteenth of the variance.
bool is_of_placements(const Drawn& one, double max_noise) {
  constexpr int few = 3;  // samples at a placement; fewer say nothing of their noise
  return one.placements > 1 && std::ssize(one.samples) >= few * one.placements &&
         noise_within(one.samples, one.placements) <= max_noise / 4;
}

}  // namespace

std::string_view name(Stopping::Reason reason) {
  static constexpr std::array names{"", "noise", "placements", "time", "count"};
  return names[static_cast<std::size_t>(reason)];
}

int Stopping::stop(Reason reason) {
  reason_ = reason;
  return 0;
}

int Stopping::next(std::span<const Drawn> drawn, double spent_s) {
  if (asked_ == 0) return asked_ = precision_ ? first_batch : std::numeric_limits<int>::max();
  if (!precision_) return 0;
  bool goes_on = false, noisy = asked_ < first_look, placed = false;
  for (const Drawn& one : drawn) {
    const bool has_all = std::ssize(one.samples) == asked_;  // else it has failed, or is very long
    goes_on |= has_all;
    if (!has_all || noisy || relative_noise(one.samples, one.placements) <= precision_->max_noise) continue;
    (is_of_placements(one, precision_->max_noise) ? placed : noisy) = true;
  }
  if (goes_on && !noisy) return stop(placed ? Reason::placements : Reason::noise);
  if (!goes_on || asked_ == max_samples) return stop(Reason::count);
  const double in_time = (precision_->time_limit_s - spent_s) * asked_ / std::max(spent_s, 1e-9);
  if (in_time < 1) return stop(Reason::time);
  const int wanted = asked_ < first_look ? first_look - asked_ : asked_ / 2;
  const int batch = std::min({wanted, max_samples - asked_, static_cast<int>(std::min<double>(in_time, max_samples))});
  asked_ += batch;
  return batch;
}

}  // namespace league::bench
