// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/words_native.hpp"
#include "algorithms/softmax_regression/common/kokkos_specialised.hpp"
#include "algorithms/softmax_regression/host/tiles.hpp"

/// The method on hosts, where a tile's sums are in the vector registers of one thread; line beside line with
/// `openmp.cpp`.
namespace league::softmax_regression::kokkos_specialised_model {

// A team takes every teams-th tile of rows, its threads these tiles in turn, each with its own gradient.
template <class T>
class FusedOnHost final : public IterativeShard {
 public:
  FusedOnHost(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard),
        exec_(kokkos::instance(context.runtime, queue())),
        memory_(*this, problem),
        partial_pitch_(std::int64_t{turns(problem.classes)} * classes_together * problem.pitch) {
    memory_.declare_weights(problem.pitch);
  }
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 1, 1}, kokkos::limits(queue()));
    if (launch_.league == 0) launch_.league = std::max(1, queue().device().threads / launch_.team);
    if (launch_.league > max_league / launch_.team)
      throw Unsupported("league " + std::to_string(launch_.league) + " x team size " + std::to_string(launch_.team) +
                        ": this kernel takes up to " + std::to_string(max_league) + " together");
    gradients_ = launch_.league * launch_.team;
    declare(partials_, "softmax/partials", gradients_ * partial_pitch_);
    declare(losses_, "softmax/losses", gradients_);
    return launch_;
  }
  void begin() const override { clear_state(exec_, memory_); }
  void accumulate() const override {
    const auto kernel = [descent = memory_.descent(), x = memory_.x.data(), labels = memory_.labels.data(),
                         partials = partials_.data(), losses = losses_.data(),
                         pitch = partial_pitch_](const Member& team) {
      const std::int64_t step = *descent.taken;
      const Rows rows = descent.own_rows(step);
      const int threads = static_cast<int>(team.league_size() * team.team_size());
      const int thread = static_cast<int>(team.league_rank() * team.team_size() + team.team_rank());
      if (thread == 0) *descent.current = step;
      double* mine = partials + thread * pitch;
      std::fill_n(mine, pitch, 0.0);
      double loss = descent.penalty(step, thread, threads);
      for (std::int64_t row = rows.first + std::int64_t{thread} * host_tile_rows; row < rows.last;
           row += std::int64_t{threads} * host_tile_rows)
        loss += take_tile<blocks::NativeWords>(
            descent, x + row * descent.pitch, labels + row,
            static_cast<int>(std::min<std::int64_t>(host_tile_rows, rows.last - row)), mine);
      losses[thread] = loss;
    };
    kokkos::submit(queue(), "softmax/fused", Team(exec_, launch_.league, launch_.team, 1), kernel);
    add_partials(exec_, memory_, partials_.data(), partial_pitch_, gradients_, losses_.data(), gradients_);
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.sums.data(), memory_.sums.size()); }
  void update() const override { take_step(exec_, memory_); }

 private:
  Exec exec_;
  Memory<T, kokkos::Array> memory_;
  Launch launch_;
  int gradients_ = 0;  ///< one per thread
  std::int64_t partial_pitch_;
  kokkos::Array<double> partials_;  ///< [threads][whole turns of classes][pitch]
  kokkos::Array<double> losses_;    ///< [threads]
};

}  // namespace league::softmax_regression::kokkos_specialised_model
