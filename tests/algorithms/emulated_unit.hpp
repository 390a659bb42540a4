// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <barrier>

#include "algorithms/blocks/mma.hpp"

namespace league::tests {

namespace mma = blocks::mma;

/// The words of both operands of a subgroup's lanes, and a value of each lane.
template <class Word>
struct Meeting {
  explicit Meeting(int lanes) : all(lanes) {}
  std::barrier<> all;
  Word a[mma::side][mma::words], b[mma::side][mma::words];
  std::array<double, 64> shuffled;
};

/// A GPU's unit by its layout only: lanes synchronise for every product.
template <class Layout>
struct Emulated : Layout {
  using Layout::lanes, Layout::sums, Layout::share, Layout::per_word;
  using Traits = mma::Traits<Layout::element>;
  using typename Layout::Sum, typename Layout::Value, typename Layout::Word;
  inline static thread_local Meeting<Word>* meeting = nullptr;
  inline static thread_local int lane_here = 0;
  struct fragment_c {
    Sum sum[sums] = {};
  };
  static void mma_sync(fragment_c& c, const typename Layout::fragment_a& a, const typename Layout::fragment_a& b) {
    for (int i = 0; i < share; ++i) {
      const mma::Place of_a = Layout::word_of(lane_here, i);
      const mma::Place of_b = Layout::template word_of<mma::Operand::b>(lane_here, i);
      meeting->a[of_a.row][of_a.word] = a.word[i];
      meeting->b[of_b.row][of_b.word] = b.word[i];
    }
    meeting->all.arrive_and_wait();
    for (int i = 0; i < sums; ++i)
      for (int word = 0; word < mma::words; ++word) {
        std::array<Value, per_word> x, y;
        __builtin_memcpy(x.data(), &meeting->a[Layout::row(lane_here, i)][word], sizeof x);
        __builtin_memcpy(y.data(), &meeting->b[Layout::column(lane_here, i)][word], sizeof y);
        for (std::size_t k = 0; k < per_word; ++k) c.sum[i] += Traits::widen(x[k]) * Traits::widen(y[k]);
      }
    meeting->all.arrive_and_wait();
  }
  static void values(const fragment_c& c, Sum (&out)[sums]) { std::copy_n(c.sum, sums, out); }
  template <class T>
  static T shuffle(T value, int lane) {
    meeting->shuffled.at(static_cast<std::size_t>(lane_here)) = static_cast<double>(value);
    meeting->all.arrive_and_wait();
    value = static_cast<T>(meeting->shuffled.at(static_cast<std::size_t>(lane)));
    meeting->all.arrive_and_wait();
    return value;
  }
};

}  // namespace league::tests
