// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/contract/registry.hpp"

namespace league::bench {

/// Which rows of which data a case works on.
struct Selection {
  std::string dataset = "mnist";
  /// "random"; "file": the test set is the last quarter of the file; "predefined": the test set of the dataset.
  std::string split = "random";
  std::uint64_t split_seed = 42;
  std::uint64_t seed = 1;                          ///< of generated data
  std::int64_t train = 0, test = 0, features = 0;  ///< 0: what the dataset gives
  bool operator==(const Selection&) const = default;
  /// "generated": pixels; "normal": f32 of the standard normal distribution. All others are read from files.
  [[nodiscard]] bool is_generated() const { return dataset == "generated" || dataset == "normal"; }
};

/// The source of a launch. `open`: not set by the study, chosen by the run (bench/tune/launches.hpp).
enum class LaunchSource { open, automatic, tuned, given };
/// "auto", "tuned", "explicit".
std::string_view name(LaunchSource source);

/// The file that a tuned launch was found in, and the search that found it.
struct Tuning {
  std::string file, hash, search;
};

/// The expected range of a figure of the check.
struct Band {
  std::string figure;
  double low, high;
};

/// When `samples = "auto"` stops sampling a comparison.
struct Precision {
  double max_noise = 0.01;  ///< of every case: half the width of its median's 95 % interval over the median
  double time_limit_s = 5;  ///< of the cases that are sampled in turn, all together
  bool operator==(const Precision&) const = default;
};

/// The kind of memory that a program's own arrays lie in, on the host of a GPU.
enum class HostMemory { pageable, pinned };
std::string_view name(HostMemory memory);

/// The maximum number of placements of a case.
inline constexpr int max_placements = 64;

/// One line of results: a variant, sizes, a type, devices and a launch.
struct Case {
  const Algorithm* algorithm = nullptr;
  const Method* method = nullptr;
  std::string model;
  Execution execution = Execution::stream;
  Dtype dtype = Dtype::f32;
  Parameters parameters;  ///< all that the algorithm has, sizes among them
  Selection data;         ///< of an algorithm that needs a dataset
  std::uint64_t seed = 1;
  int devices = 1;                     ///< in all
  int ranks = 1;                       ///< that drive them, as many each
  int threads = 0;                     ///< of a host, in each process; 0: all
  std::string communicator = "local";  ///< engine between several devices (backends/communicator.hpp)
  Launch launch;
  LaunchSource launch_source = LaunchSource::open;
  Tuning tuning;                         ///< of a tuned launch
  int samples = 10;                      ///< in all; with a precision, in the final of a search
  std::optional<Precision> precision{};  ///< "auto": in place of a number of samples
  int placements = 0;                    ///< of its arrays; 0: chosen by the run (bench/measure/placements.hpp)
  std::vector<Band> expected{};          ///< by the study
  bool energy = false;                   ///< whether the energy of a compute is measured
  std::vector<HostMemory> end_to_end{};  ///< memory of the host that passes start and end in; empty: none is measured
  bool drawn = false;                    ///< its sizes are a shape that the study drew

  std::string name;        ///< "vector_add/method:plain/model:cuda/dtype:f32/n:1024/devices:1/launch:auto"
  std::string comparison;  ///< the name without variant, communicator and launch
  std::string skip;        ///< why it cannot run here, as far as known before the run; else empty
  std::string repeats;     ///< of a null test: the name of the case that it repeats; else empty
};

/// Cases that are checked together and sampled in turn.
struct Comparison {
  std::string name;
  std::vector<Case> cases;
  bool null_test = true;  ///< whether it wants one
};

/// The engine where the study names none: "local" within a process, "auto" over ranks.
std::string default_communicator(const Case& that);

/// "fused"; with an execution that is not the default, "fused graph".
std::string method_label(const Case& that);

/// The execution for pairing: Kokkos' own graphs are compared with native graphs.
Execution compared_as(Execution execution);

/// "auto" or "league=132,team=8".
std::string label(const Launch& launch);

/// The launch in the name of a case: "tuned" for one of a tuned file, else its label.
std::string launch_label(const Case& that);

/// Sizes of a case, in the order in which the algorithm declares them.
std::vector<std::pair<std::string, std::int64_t>> sizes_of(const Case& that);

/// Fills in `name` and `comparison`. What is not at its default is part of both; sizes always are.
void give_names(Case& that);

}  // namespace league::bench
