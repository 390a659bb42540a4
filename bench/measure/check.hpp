// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <vector>

#include "algorithms/contract/registry.hpp"
#include "bench/study/case.hpp"

namespace league::bench {

class KnownResults;
class StepTrace;

/// The partition of a problem over `devices` in all. @pre every rank has the same number
Partition world_of(const Problem& problem, int devices, const Ranks::Place& place);

/// How a case is prepared, other than for samples.
struct Preparation {
  bool dry = false;                              ///< without memory and inputs, for `needed_device_bytes`
  StepTrace* trace = nullptr;                    ///< records what its shards do
  std::pmr::memory_resource* results = nullptr;  ///< memory of the results, touched before; null: the runtime's
  KnownResults* known = nullptr;                 ///< of the same problem: what they hold is not judged again
};

/// A case with its device memory allocated, its launch configured and its inputs uploaded.
class PreparedCase {
 public:
  /// @throws Unsupported, or what the backend throws
  PreparedCase(const Case& that, const Problem& problem, Runtime& runtime, std::int64_t memory_budget_bytes,
               const Preparation& how = {});
  PreparedCase(const PreparedCase&) = delete;
  PreparedCase& operator=(const PreparedCase&) = delete;

  [[nodiscard]] const Case& of() const { return case_; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] Prepared& prepared() { return *prepared_; }
  [[nodiscard]] Launch launch() const { return launch_; }
  /// Configures the variant again. @returns the effective launch
  /// @throws Unsupported, also for a league of more teams than the problem has work for
  Launch configure(const Launch& launch);
  /// Why the automatic launch replaced the tuned one; empty if it did not.
  [[nodiscard]] const std::string& launch_note() const { return launch_note_; }
  [[nodiscard]] Runtime& runtime() const { return runtime_; }
  /// Of this rank.
  [[nodiscard]] const std::vector<Shard>& shards() const { return shards_; }
  [[nodiscard]] const Partition& world() const { return world_; }
  /// Where `Prepared::download` puts the results.
  [[nodiscard]] const Outputs& outputs() const { return outputs_; }
  [[nodiscard]] const Communicator& communicator() const { return *communicator_; }
  /// Of `problem()`; null: every result is judged.
  [[nodiscard]] KnownResults* known() const { return known_; }
  /// Of declaring and allocating its arrays, its launch, and its graphs.
  [[nodiscard]] double allocation_s() const { return allocation_s_; }
  [[nodiscard]] double upload_s() const { return upload_s_; }

 private:
  Launch choose();
  const Case& case_;
  const Problem& problem_;
  Runtime& runtime_;
  Partition world_;
  std::vector<Shard> shards_;
  Outputs outputs_;
  std::unique_ptr<Communicator> communicator_;
  KnownResults* known_;
  std::unique_ptr<Prepared> prepared_;  // destroyed first: it refers to the rest
  Launch launch_;
  std::string launch_note_;
  double allocation_s_ = 0, upload_s_ = 0;
};

/// The maximum over devices of the bytes that a run of this case allocates; 0: unknown. Allocates nothing.
/// @throws Unsupported as the run does, if it is more than the budget
std::int64_t needed_device_bytes(const Case& that, const Problem& problem, Runtime& runtime,
                                 std::int64_t memory_budget_bytes);

/// Results on the host, and what the oracle says of them.
struct Checked {
  const Outputs* outputs = nullptr;
  Verdict verdict;
  Counts counts;         ///< of the compute, of all ranks
  double compute_s = 0;  ///< host clock, launch to fence, of all ranks; 0 where nothing was computed
  double download_s = 0;
};

/// What is wrong, in words. @pre it did not pass
std::string fault_of(const Verdict& verdict);

/// Downloads and checks the results of the last compute.
Checked check_left(PreparedCase& prepared_case);
/// The same by the oracle of another problem with the same inputs.
Checked check_left(PreparedCase& prepared_case, const Problem& problem);

/// Poisons all outputs, computes once and checks. `begin` is called just before the compute, with empty queues.
Checked check_fresh(PreparedCase& prepared_case, Stages& stages, const std::function<void()>& begin = {});

}  // namespace league::bench
