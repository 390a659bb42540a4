// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/measure/end_to_end.hpp"
#include "bench/measure/energy.hpp"
#include "bench/measure/inspector.hpp"
#include "bench/measure/measure.hpp"
#include "bench/measure/stopping.hpp"
#include "bench/record/metrics.hpp"
#include "bench/study/case.hpp"

namespace league::bench {

enum class Status { passed, skipped, failed };
std::string_view name(Status status);

using Readings = std::vector<std::pair<std::string, std::string>>;

/// The result of one case.
struct Result {
  Case of;
  Status status = Status::skipped;
  std::string reason;  ///< of what did not pass
  Metric metric = Metric::host_time;
  std::vector<double> samples;                        ///< seconds of one compute each
  int placements = 1;                                 ///< of the arrays, which the samples take in turn
  Stopping::Reason stopped = Stopping::Reason::none;  ///< why sampling stopped, with a precision
  std::optional<double> latency_s;
  /// Why the automatic launch replaced the tuned one; empty if it did not.
  std::string launch_note;
  std::vector<std::string> engines;  ///< that a composite communicator used
  Trace trace;
  std::string stages_note;  ///< why it has none inside its compute; empty if it has
  Launch launch;            ///< as it was carried out
  int batch = 0;            ///< computes per sample
  int group = 0;            ///< cases that fit into memory together and were sampled in turn
  double begin_skew_s = 0;  ///< between the ranks, maximum over the samples
  bool held = false;        ///< whether the queue was held back while a batch was queued
  Cost cost;                ///< of the problem
  double method_bytes = 0;  ///< that the method moves at least
  /// That the method takes at least in its unit, and the problem in the best unit.
  double method_operations = 0, best_operations = 0;
  /// Of the method on these inputs; empty: the registered one.
  std::string method_unit;
  Verdict verdict;
  Inspections inspections;
  Counts counts;                     ///< of the last compute that was timed
  std::vector<KernelFacts> kernels;  ///< that a compute launches on a GPU
  std::string kernels_note;          ///< why they are not known, where they were asked for
  std::vector<MetricValues> metrics;
  std::string device_name;
  Readings readings_before, readings_after;
  std::optional<Energy> energy;      ///< of a case that passed, where the study asks for it
  std::vector<EndToEnd> end_to_end;  ///< the same
};

}  // namespace league::bench
