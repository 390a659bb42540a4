// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <barrier>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/mma.hpp"

/// GPU teams with matrix units, simulated by host threads.
namespace league::tests {

namespace mma = blocks::mma;
using mma::side, mma::words;

/// The two operands of this thread's subgroup, and a value per lane.
struct Operands {
  explicit Operands(int lanes) : all(lanes), shuffled(static_cast<std::size_t>(lanes)) {}
  std::barrier<> all;
  std::vector<double> shuffled;
  double a[side][words] = {}, b[side][words] = {};
};
inline thread_local Operands* operands = nullptr;
inline thread_local int own_lane = 0;

/// A GPU's unit on the host: products are computed from the words of all lanes, by the unit's layout.
template <class Unit>
struct Simulated : Unit {
  using typename Unit::Sum, typename Unit::Word;
  struct fragment_a {
    Word word[Unit::share];
  };
  using fragment_b = fragment_a;
  struct fragment_c {
    Sum sum[Unit::sums] = {};
  };
  static void load(fragment_a& fragment, const Word* piece, int lane) {
    __builtin_memcpy(fragment.word, piece + lane * Unit::share, sizeof fragment.word);
  }
  static void mma_sync(fragment_c& c, const fragment_a& a, const fragment_b& b) {
    for (int i = 0; i < Unit::share; ++i) {
      const mma::Place place = Unit::word_of(own_lane, i);
      __builtin_memcpy(&operands->a[place.row][place.word], a.word + i, sizeof(double));
      __builtin_memcpy(&operands->b[place.row][place.word], b.word + i, sizeof(double));
    }
    operands->all.arrive_and_wait();
    for (int i = 0; i < Unit::sums; ++i)
      for (int w = 0; w < words; ++w)
        c.sum[i] += operands->a[Unit::row(own_lane, i)][w] * operands->b[Unit::column(own_lane, i)][w];
    operands->all.arrive_and_wait();
  }
  static void values(const fragment_c& c, Sum (&out)[Unit::sums]) {
    for (int i = 0; i < Unit::sums; ++i) out[i] = c.sum[i];
  }
  template <class T>
  static T shuffle(T value, int lane) {
    operands->shuffled[static_cast<std::size_t>(own_lane)] = static_cast<double>(value);
    operands->all.arrive_and_wait();
    value = static_cast<T>(operands->shuffled.at(static_cast<std::size_t>(lane)));
    operands->all.arrive_and_wait();
    return value;
  }
};

using SimulatedTeam = blocks::Group<std::function<void()>>;

/// Calls `body(team)` on all threads of a team of `subgroups` subgroups.
template <class Unit, class Body>
void run_team(int subgroups, const Body& body) {
  const int size = subgroups * Unit::lanes;
  std::barrier all(size);
  std::vector<std::unique_ptr<Operands>> of_subgroups;
  for (int i = 0; i < subgroups; ++i) of_subgroups.push_back(std::make_unique<Operands>(Unit::lanes));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      operands = of_subgroups[static_cast<std::size_t>(rank / Unit::lanes)].get(), own_lane = rank % Unit::lanes;
      body(SimulatedTeam{rank, size, [&] { all.arrive_and_wait(); }});
    });
}

}  // namespace league::tests
