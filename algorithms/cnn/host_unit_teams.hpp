// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include "algorithms/blocks/group.hpp"
#include "algorithms/cnn/host_step.hpp"

namespace league::cnn {

/// A step on host threads with kernels of GPU teams, on a host's matrix unit: a thread is a team. `Step`: the rest.
/// `KernelMemory`: of the kernels. `Kernels`: all others, for the size of a team's scratch.
template <class Step, class KernelMemory, class Dense, class DenseBackward, class... Kernels>
struct UnitTeams : Step {
  using typename Step::Take;
  /// `Four`s of a team's scratch.
  static constexpr std::size_t team_packs =
      static_cast<std::size_t>(
          std::max({Dense::scratch_bytes, DenseBackward::scratch_bytes, Kernels::scratch_bytes...})) /
          sizeof(Four) +
      1;
  /// `team_scratch`: [threads][team_packs]
  UnitTeams(const Step& step, const KernelMemory& memory, Four* team_scratch)
      : Step(step), memory_(memory), team_scratch_(team_scratch) {}

  template <class Threads>
  void dense_back(const Threads& all, const Take& take) const {
    all([&](int thread) {
      Step::differentiate_last(take, thread);
      items<DenseBackward>(take, thread, DenseBackward::tiles(take.count));
    });
  }

 protected:
  template <class Threads>
  void dense(const Threads& all, const Take& take) const {
    all([&](int thread) { items<Dense>(take, thread, Dense::items(take.count, memory_.slices)); });
    all([&](int thread) { Step::judge(take, thread); });
  }
  template <class Kernel>
  void items(const Take& take, int thread, int count) const {
    const Range mine = Step::part(count, thread);
    for (auto item = static_cast<int>(mine.begin); item < mine.end; ++item)
      Kernel::run(blocks::one_thread, Step::state, memory_, take, item, of_team(thread));
  }
  /// Calls the kernel for each of its `shares` of a team's work.
  template <class Kernel>
  void sums(const Take& take, int thread, int shares) const {
    for (int share = 0; share < shares; ++share)
      Kernel::run(blocks::one_thread, Step::state, memory_, take, shares * thread + share, shares * Step::threads,
                  of_team(thread));
  }
  /// Packs the first `count` weights that the kernels read in another order.
  template <class Pack>
  void pack(int count, int thread) const {
    const Range mine = Step::part(count, thread);
    for (auto at = static_cast<int>(mine.begin); at < mine.end; ++at) Pack{Step::state, memory_}(at);
  }
  /// The sum of the partial sums at `at` of all threads, [threads][size].
  [[nodiscard]] float sum_of(const float* partials, int size, int at) const {
    float sum = 0;
    for (int team = 0; team < Step::threads; ++team) sum += partials[std::int64_t{team} * size + at];
    return sum;
  }
  [[nodiscard]] float* of_team(int thread) const {
    return team_scratch_[static_cast<std::size_t>(thread) * team_packs].values;
  }

  KernelMemory memory_;
  Four* team_scratch_;
};

}  // namespace league::cnn
