// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/softmax_regression/host_tiles.hpp"
#include "algorithms/softmax_regression/kokkos_part.hpp"

/// The method on hosts, where a tile's sums are in the vector registers of one thread: as `openmp.cpp`, line beside
/// line.
namespace league::softmax_regression::kokkos_model {

// A team takes every teams-th tile of rows, its threads the tiles in turn, each with a gradient of its own.
template <class T>
class FusedOnHost final : public KokkosPart<T> {
 public:
  using KokkosPart<T>::KokkosPart;
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 1, 1}, kokkos::limits(this->queue()));
    if (launch_.league == 0) launch_.league = std::max(1, this->queue().device().threads / launch_.team);
    if (launch_.league > max_league / launch_.team)
      throw Unsupported("league " + std::to_string(launch_.league) + " x team size " + std::to_string(launch_.team) +
                        ": this kernel takes up to " + std::to_string(max_league) + " together");
    const int pitch = static_cast<int>(this->problem_.pitch);
    gradients_ = launch_.league * launch_.team;
    partial_pitch_ = std::int64_t{turns(this->problem_.classes)} * classes_together * pitch;
    require_memory(this->bytes_ + gradients_ * (partial_pitch_ + 1) * 8, this->budget_bytes_);
    const auto make = this->maker();
    this->make_weights(pitch, make);
    make("softmax/partials", partials_, gradients_ * partial_pitch_);
    make("softmax/losses", this->losses_, gradients_);
    return launch_;
  }
  void accumulate() override {
    const Descent descent = this->descent();
    Kokkos::parallel_for(
        "softmax/fused", Team(this->exec_, launch_.league, launch_.team, 1), [=, this](const Member& team) {
          const std::int64_t step = *descent.taken;
          const Rows rows = descent.own_rows(step);
          const int threads = static_cast<int>(team.league_size() * team.team_size());
          const int thread = static_cast<int>(team.league_rank() * team.team_size() + team.team_rank());
          if (thread == 0) *descent.current = step;
          double* mine = partials_.data() + thread * partial_pitch_;
          std::fill_n(mine, partial_pitch_, 0.0);
          double loss = descent.penalty(step, thread, threads);
          for (std::int64_t row = rows.first + std::int64_t{thread} * host_tile_rows; row < rows.last;
               row += std::int64_t{threads} * host_tile_rows)
            loss += take_tile(descent, this->x_.data() + row * descent.pitch, this->labels_.data() + row,
                              static_cast<int>(std::min<std::int64_t>(host_tile_rows, rows.last - row)), mine);
          this->losses_.data()[thread] = loss;
        });
    this->add_partials(partials_.data(), partial_pitch_, gradients_, gradients_);
  }

 private:
  Launch launch_;
  int gradients_ = 0;  ///< one a thread
  std::int64_t partial_pitch_ = 0;
  kokkos::Array<double> partials_;  ///< [threads][whole turns of classes][pitch]
};

}  // namespace league::softmax_regression::kokkos_model
