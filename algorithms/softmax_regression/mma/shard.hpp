// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <utility>

#include "algorithms/softmax_regression/common/memory.hpp"
#include "algorithms/softmax_regression/mma/form.hpp"

namespace league::softmax_regression {

/// Memory of the `mma` kernels, the same in CUDA and Kokkos.
template <class Unit, class T, template <class> class Array>
struct MmaMemory {
  using Tile = MmaTile<Unit>;
  using Squares = typename Tile::Squares;
  static constexpr int split_threads = Tile::alone ? 1 : 512;  ///< threads that split the weights of a class
  static constexpr int split_bytes = split_threads * 12;

  MmaMemory(VariantShard& shard, const SoftmaxRegression& problem)
      : rows(shard, problem),
        classes(problem.classes),
        across(ceil_div(static_cast<int>(problem.features) + 1, Squares::side)),
        down(static_cast<int>(ceil_div<std::int64_t>(rows.max_rows(), Squares::side))) {
    const std::int64_t all_turns = turns(classes);
    rows.declare_weights(problem.pitch);
    shard.declare(packed, "softmax/packed", rows.batches() * down * across * Squares::words);
    shard.declare_zeroed(weights, "softmax/split_weights",
                         all_turns * across * Tile::steps * Tile::units * blocks::mma::piece_words);
    shard.declare_zeroed(constants, "softmax/constants", all_turns * Tile::columns);
    shard.declare_zeroed(factors, "softmax/factors", all_turns * classes_together);
  }
  /// `teams` are resident at once; the launch's tile: rows of squares per round. @throws Unsupported for another team
  /// size than the kernel's, or a tile that does not fit
  Launch configure(Launch requested, const LaunchLimits& limits, int teams) {
    const auto [threads, max_round] = form(
        [&](auto slots) { return std::pair{MmaForm<Unit, slots>::threads, MmaForm<Unit, slots>::max_round(classes)}; });
    launch = resolve(requested, {0, threads, 1, max_round}, limits);
    if (launch.team != threads || launch.vector != 1)
      throw Unsupported("team size " + std::to_string(launch.team) + ", vector length " +
                        std::to_string(launch.vector) + ": the squares of this kernel take " + std::to_string(threads) +
                        " and 1");
    if (launch.tile > max_round)
      throw Unsupported("tile " + std::to_string(launch.tile) + ": a team of this kernel takes up to " +
                        std::to_string(max_round) + " rows of squares together");
    if (launch.league == 0) launch.league = std::clamp(down, 1, teams);
    const bool one_round = ceil_div(down, launch.league) <= launch.tile;
    resident = !Tile::alone && (one_round || (turns(classes) == 1 && across <= Tile::together));
    rows.shard.declare(partials, "softmax/partials",
                       std::int64_t{launch.league} * classes * rows.problem.pitch * (resident ? 4 : 8));
    rows.shard.declare(losses, "softmax/losses", launch.league);
    return launch;
  }
  /// Calls `body(std::integral_constant<int, slots>)` with the form of the kernel (mma_form.hpp).
  template <class Body>
  auto form(const Body& body) const {
    return with_form<Unit>(classes, across, body);
  }
  [[nodiscard]] int scratch_bytes() const {
    return form([&](auto slots) { return MmaForm<Unit, slots>::scratch_bytes(classes); });
  }
  [[nodiscard]] MmaRows<Unit, T> packing() const {
    const Descent descent = rows.descent();
    return {rows.x.data(),          packed.data(),   descent.own_batch,
            descent.own_last_batch, descent.batches, descent.features,
            descent.pitch,          across,          down};
  }
  [[nodiscard]] MmaWork<Unit> work() const {
    return {packed.data(),   weights.data(), constants.data(), factors.data(), rows.labels.data(), rows.descent(),
            partials.data(), losses.data(),  across,           down,           launch.tile,        resident};
  }
  /// Calls `add` with the partial gradients, as floats or doubles.
  template <class Add>
  void with_partials(const Add& add) const {
    if (resident)
      add(reinterpret_cast<const float*>(partials.data()));
    else
      add(reinterpret_cast<const double*>(partials.data()));
  }

  Memory<T, Array> rows;
  int classes, across, down;
  bool resident = false;
  Launch launch;
  Array<typename Unit::Word> packed, weights;
  Array<int> constants;
  Array<float> factors;
  Array<std::uint8_t> partials;  ///< [league][classes][pitch] floats or doubles
  Array<double> losses;          ///< [league]
};

/// A `Variant<Unit, T>`: pixels of any type as bytes, other numbers as floats.
template <template <blocks::mma::Element> class Native, template <class, class> class Variant>
static std::unique_ptr<IterativeShard> by_unit(const SoftmaxRegression& problem, const Context& context,
                                               const Shard& shard) {
  using blocks::mma::Element;
  if (!problem.pixels()) return std::make_unique<Variant<Native<Element::f32>, float>>(problem, context, shard);
  return with_type<float, std::uint8_t>(problem.dtype, [&]<class T>() -> std::unique_ptr<IterativeShard> {
    return std::make_unique<Variant<Native<Element::s8>, T>>(problem, context, shard);
  });
}

}  // namespace league::softmax_regression
