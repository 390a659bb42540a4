// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/softmax_regression/common/memory.hpp"
#include "algorithms/softmax_regression/persistent/kernel.hpp"

namespace league::softmax_regression {

/// What `body.template operator()<quads>()` returns for the quads of features, the constant one included.
template <class Body>
auto with_quads(const SoftmaxRegression& problem, const Body& body) {
  switch (problem.features / 4) {
    case 0:
      return body.template operator()<1>();
    case 1:
      return body.template operator()<2>();
    case 2:
      return body.template operator()<3>();
    default:
      return body.template operator()<4>();
  }
}

/// Memory of the `persistent` kernel, the same in CUDA and Kokkos.
template <class T, template <class> class Array>
struct PersistentMemory {
  /// @throws Unsupported for more features or classes than a thread has registers for, or several shards
  PersistentMemory(VariantShard& shard, const Context& context, const SoftmaxRegression& problem)
      : rows(shard, problem) {
    require_alone(context);
    require_few("features", problem.features, few_features);
    require_few("classes", problem.classes, classes_together);
  }
  /// `most_threads`: of a team; up to eight rows per thread, a team of half of them waits for less time at its
  /// barriers. `held(launch)`: teams of this launch that the device holds at once. @throws Unsupported for a larger
  /// league, larger teams, or vectors
  template <class Held>
  Launch configure(Launch requested, int most_threads, const LaunchLimits& limits, int multiprocessors,
                   const Held& held) {
    constexpr int few_rows = 8;
    const int few_threads = std::max(1, most_threads / 2);
    const bool few = rows.max_rows() <= std::int64_t{few_rows} * few_threads * multiprocessors;
    launch = resolve(requested, {0, few ? few_threads : most_threads, 1}, limits);
    if (launch.vector != 1)
      throw Unsupported("vector length " + std::to_string(launch.vector) +
                        ": each thread of this kernel keeps its own sums, it takes 1");
    if (launch.team > max_threads)
      throw Unsupported("team size " + std::to_string(launch.team) + ": this kernel takes up to " +
                        std::to_string(max_threads) + " threads");
    const int at_once = held(launch);
    if (launch.league == 0) launch.league = automatic_league(at_once, multiprocessors);
    blocks::require_at_once(launch, at_once);
    rows.shard.declare(board, "softmax/board", blocks::all_reduce_words(sums(), launch.league));
    return launch;
  }
  [[nodiscard]] PersistentWork<T> work() const {
    return {rows.x.data(), rows.labels.data(), rows.descent(), board.data(), rows.problem.steps};
  }

  Memory<T, Array> rows;
  Launch launch;
  Array<stamped::Word> board;

 private:
  static void require_few(const std::string& what, std::int64_t count, int most) {
    if (count > most)
      throw Unsupported(what + " " + std::to_string(count) + ": a thread keeps the gradient of up to " +
                        std::to_string(most) + " " + what + " in registers; take mma or fused");
  }
  [[nodiscard]] int sums() const {
    return persistent_sums(rows.problem.classes, static_cast<int>(rows.problem.features));
  }
  /// A team per multiprocessor where there are rows for so many, a second one with more than 16 rows per thread.
  [[nodiscard]] int automatic_league(int held, int multiprocessors) const {
    constexpr int few_rows = 16;
    const std::int64_t count = rows.max_rows();
    return blocks::waiting_league(count, few_rows * launch.team, multiprocessors,
                                  std::min(held, league_of(ceil_div<std::int64_t>(count, launch.team))));
  }
};

}  // namespace league::softmax_regression
