// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/measure/check.hpp"
#include "bench/measure/self_timed.hpp"
#include "bench/ranks/rendezvous.hpp"

namespace league::bench {

/// What a sample is. Never mixed: device time is between two marks on the device's queue, the others on the host's
/// clock.
enum class Metric { device_time, makespan, host_time };
std::string_view name(Metric metric);

/// One stage on one device, in seconds since just before the compute.
struct Event {
  int device = 0;  ///< among the devices of the case
  std::string stage;
  double begin_s = 0, end_s = 0;
};

/// Where the time of one compute goes. A stage on several devices counts with the slowest of them.
struct Trace {
  std::map<std::string, double> stages;
  std::vector<double> per_device_s;
  /// All stages of all devices on one clock, in the order in which they were queued. The clock of each device is tied
  /// to the host's by one mark on its empty queue: between devices, times are right to the few microseconds that such a
  /// mark is under way.
  std::vector<Event> timeline;
};

/// As `check_fresh`, and where the time went in that first compute.
Checked check_traced(Entrant& entrant, Trace& trace);

/// Draws samples of one case.
class Meter {
 public:
  /// `checked_s`: host clock of the checked compute; where that took long, it is not repeated for a first look.
  Meter(Entrant& entrant, double checked_s);

  /// Host clock, one launch to fence: the median of a few; of one of its repeats, their mean.
  [[nodiscard]] double latency_s() const { return latency_s_ / timing_.repeats; }
  /// Seconds of one compute, by this case's metric; from a first look.
  [[nodiscard]] double expected_s() const { return expected_s_; }
  [[nodiscard]] Metric metric() const { return metric_; }
  /// Whether samples are long enough to be taken cold, each from poisoned outputs.
  [[nodiscard]] bool is_long() const { return latency_s_ > 0.01; }
  /// Whether the queue is held back while a batch is queued.
  [[nodiscard]] bool holds() const { return clock_ != nullptr ? clock_->holds() : holds_; }
  /// Between the begins of the ranks, the most of all samples.
  [[nodiscard]] double begin_skew_s() const { return rendezvous_.begin_skew_s(); }
  /// How many computes one sample needs to be long enough for its clock.
  [[nodiscard]] int batch_needed() const;
  /// How many computes a sample may have before it takes very long; at least one.
  [[nodiscard]] int batch_affordable() const;
  /// Where the time of one compute goes; work that usually overlaps runs stage after stage.
  Trace trace();
  /// Seconds of one compute, or of one of its repeats: the mean over a batch.
  double sample(int batch);

 private:
  [[nodiscard]] Ranks& ranks() const { return entrant_.runtime().ranks(); }
  void look_first();
  double host_sample(int batch);
  double device_sample(int batch);
  double held_sample(int batch, bool& whole);

  Entrant& entrant_;
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
