// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/measure/check.hpp"
#include "bench/measure/self_timed.hpp"
#include "bench/ranks/rendezvous.hpp"

namespace league::bench {

/// What a sample measures. Device time is between two events on the device's queue, the others are on the host's clock;
/// they are never mixed.
enum class Metric { device_time, makespan, host_time };
std::string_view name(Metric metric);

/// One stage on one device, in seconds since just before the compute.
struct Event {
  int device = 0;  ///< among the devices of the case
  std::string stage;
  double begin_s = 0, end_s = 0;
  int queue = 0;  ///< of the device; 1: what runs beside its kernels
};

/// Where the time of one compute goes. A stage on several devices counts with the slowest of them.
struct Trace {
  std::map<std::string, double> stages;
  std::vector<double> per_device_s;
  /// All stages of all devices on one clock, in queue order. The clock of each device is related to the host's by one
  /// event on its empty queue; between devices the error is the few microseconds that such an event takes.
  std::vector<Event> timeline;
};

/// As `check_fresh`, and traces that first compute.
Checked check_traced(PreparedCase& prepared_case, Trace& trace);

/// Takes samples of one case.
class Meter {
 public:
  /// `checked_s`: time of the checked compute; a long one is not repeated for the first estimate.
  Meter(PreparedCase& prepared_case, double checked_s);
  /// Of the same case with other arrays: takes the estimates of `first`.
  Meter(PreparedCase& prepared_case, const Meter& first);

  /// Host clock, one launch to fence: the median of a few, per repeat.
  [[nodiscard]] double latency_s() const { return latency_s_ / timing_.repeats; }
  /// First estimate of the seconds of one compute, in this case's metric.
  [[nodiscard]] double expected_s() const { return expected_s_; }
  /// The same per repeat: of one solve.
  [[nodiscard]] double solve_s() const { return expected_s_ / timing_.repeats; }
  /// Whether the case takes its times in another process.
  [[nodiscard]] bool times_itself() const { return clock_ != nullptr; }
  [[nodiscard]] Metric metric() const { return metric_; }
  /// Whether samples are long enough to be taken cold, each from poisoned outputs.
  [[nodiscard]] bool is_long() const { return latency_s_ > 0.01; }
  /// Whether the queue is held back while a batch is queued.
  [[nodiscard]] bool holds() const { return clock_ != nullptr ? clock_->holds() : holds_; }
  /// Maximum over all samples of the skew between the starts of the ranks.
  [[nodiscard]] double begin_skew_s() const { return rendezvous_.begin_skew_s(); }
  /// Computes per sample that the resolution of the clock requires.
  [[nodiscard]] int batch_needed() const;
  /// Computes per sample that take at most half a second; at least one.
  [[nodiscard]] int batch_affordable() const;
  /// Traces one compute: the times of its stages, which run one after another, and the timeline; what communicates on
  /// queues of its own overlaps there as in a sample.
  Trace trace();
  /// Whether computes can follow one another without a reset between them.
  [[nodiscard]] bool repeats() const { return !timing_.reset_each; }
  /// Computes back to back for about that long, at least once, and fences. @returns how many, each repeat counted
  int run_for(double seconds);
  /// Seconds per compute and repeat: the mean over a batch.
  double sample(int batch);

 private:
  Trace traced(bool in_turn);
  [[nodiscard]] Ranks& ranks() const { return prepared_case_.runtime().ranks(); }
  void look_first();
  double host_sample(int batch);
  double device_sample(int batch);
  double held_sample(int batch, bool& whole);

  PreparedCase& prepared_case_;
  Timing timing_;
  Rendezvous rendezvous_;
  SelfTimed* clock_;  ///< the case itself, where it times itself; else null
  Metric metric_;
  bool holds_;
  double latency_s_ = 0;
  double expected_s_ = 0;
};

/// Whether a compute takes so long that every run of it is counted.
bool is_very_long(double seconds);
/// How many samples a case gets that asks for `wanted`, if one compute takes `seconds`: all; beyond 3 s up to three.
int samples_for(int wanted, double seconds);

}  // namespace league::bench
