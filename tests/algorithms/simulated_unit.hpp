// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/mma.hpp"
#include "tests/algorithms/fiber_team.hpp"

/// GPU teams with matrix units, simulated by fibers.
namespace league::tests {

namespace mma = blocks::mma;

/// The words of both operands of a subgroup's lanes, and a value of each lane.
template <class Word>
struct Lanes {
  explicit Lanes(int lanes) : all(lanes) {}
  FiberBarrier all;
  Word a[mma::side][mma::words], b[mma::side][mma::words];
  std::array<double, 64> shuffled;
};

/// A GPU's unit by its layout only: lanes synchronise for every product.
template <class Layout>
struct Simulated : Layout {
  using Layout::sums, Layout::share, Layout::per_word;
  using Traits = mma::Traits<Layout::element>;
  using typename Layout::Sum, typename Layout::Value, typename Layout::Word;
  inline static std::vector<std::unique_ptr<Lanes<Word>>> subgroups;
  static int lane_here() { return fiber_rank() % Layout::lanes; }
  static Lanes<Word>& lanes_here() { return *subgroups[static_cast<std::size_t>(fiber_rank() / Layout::lanes)]; }
  struct fragment_c {
    Sum sum[sums] = {};
  };
  static void mma_sync(fragment_c& c, const typename Layout::fragment_a& a, const typename Layout::fragment_a& b) {
    Lanes<Word>& lanes = lanes_here();
    const int lane = lane_here();
    for (int i = 0; i < share; ++i) {
      const mma::Place of_a = Layout::word_of(lane, i);
      const mma::Place of_b = Layout::template word_of<mma::Operand::b>(lane, i);
      lanes.a[of_a.row][of_a.word] = a.word[i];
      lanes.b[of_b.row][of_b.word] = b.word[i];
    }
    lanes.all.arrive_and_wait();
    for (int i = 0; i < sums; ++i)
      for (int word = 0; word < mma::words; ++word) {
        std::array<Value, per_word> x, y;
        __builtin_memcpy(x.data(), &lanes.a[Layout::row(lane, i)][word], sizeof x);
        __builtin_memcpy(y.data(), &lanes.b[Layout::column(lane, i)][word], sizeof y);
        for (std::size_t k = 0; k < per_word; ++k) c.sum[i] += Traits::widen(x[k]) * Traits::widen(y[k]);
      }
    lanes.all.arrive_and_wait();
  }
  static void values(const fragment_c& c, Sum (&out)[sums]) { std::copy_n(c.sum, sums, out); }
  template <class T>
  static T shuffle(T value, int from) {
    Lanes<Word>& lanes = lanes_here();
    lanes.shuffled.at(static_cast<std::size_t>(lane_here())) = static_cast<double>(value);
    lanes.all.arrive_and_wait();
    value = static_cast<T>(lanes.shuffled.at(static_cast<std::size_t>(from)));
    lanes.all.arrive_and_wait();
    return value;
  }
  static bool any(bool condition) {
    bool in_any = false;
    for (int lane = 0; lane < Layout::lanes; ++lane) in_any |= shuffle(condition, lane);
    return in_any;
  }
  static void sync() { lanes_here().all.arrive_and_wait(); }
};

using SimulatedTeam = blocks::Group<std::function<void()>>;

/// Calls `body(team)` on all threads of a team of `subgroups` subgroups.
template <class Unit, class Body>
void run_team(int subgroups, const Body& body) {
  if constexpr (Unit::lanes > 1) {
    Unit::subgroups.clear();
    for (int i = 0; i < subgroups; ++i)
      Unit::subgroups.push_back(std::make_unique<Lanes<typename Unit::Word>>(Unit::lanes));
  }
  run_fiber_team(subgroups * Unit::lanes,
                 [&](const auto& team) { body(SimulatedTeam{team.rank, team.size, team.barrier}); });
}

}  // namespace league::tests
