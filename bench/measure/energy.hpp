// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/energy.hpp"

namespace league::bench {

/// The energy of one compute, while computes run back to back for seconds.
struct Energy {
  std::string reason;          ///< why there is none; else empty
  std::string counter;         ///< what was counted, by which interface
  std::vector<double> joules;  ///< of one compute: the mean of each part of the window
  double seconds = 0;          ///< of one compute: the mean over the window, on the host's clock
  double window_s = 0;
  int updates = 0;                   ///< of the counter, within the window
  double watts = 0;                  ///< joules counted over the seconds of the window
  std::optional<double> read_watts;  ///< the mean of the driver's own power readings in the window
};

/// How long computes run: `warm_s` before, so that power and its readings are steady; then `window_s`, or until there
/// are six computes, up to `max_window_s`. The window is divided into `parts`, each of whole computes.
struct EnergyWindow {
  double warm_s = 1.2, window_s = 2.5, max_window_s = 30;
  int parts = 10;
};

/// What was seen of a counter, and how far the computes had come, on one clock [s].
struct EnergyLog {
  struct Value {
    double at_s, value;
  };
  struct Progress {
    double at_s;
    long long computes;  ///< done by then
  };
  std::vector<Value> updates;      ///< joules, when the counter was seen to change
  std::vector<Progress> progress;  ///< the window: its beginning, and after each fence
  std::vector<Value> watts;        ///< power readings
};

/// The energy of one compute of a log. Between two updates the counter is taken to rise evenly.
/// @returns with a reason if the counter was updated too seldom
Energy energy_of(const EnergyLog& log, int parts);

/// Runs `work` again and again (some computes and a fence; returns how many) while another thread reads the counter.
/// @throws what `work` throws; Unsupported if the counter cannot be read any more
Energy measure_energy(EnergyCounter& counter, const std::function<int()>& work, const EnergyWindow& window = {});

}  // namespace league::bench
