// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/pack.hpp"
#include "algorithms/blocks/plain_element.hpp"
#include "algorithms/blocks/term.hpp"
#include "algorithms/blocks/unrolled.hpp"

namespace league::blocks {

/// Layout of the rows for the product tile on a GPU: panels of `width` rows, feature by feature
/// ([panels][depth][width]), features padded to a multiple of `step`, rows to whole panels. An operand is then
/// contiguous in each step of the depth, whatever the number of features.
struct Panels {
  static constexpr int width = 128, step = 16;
  std::int64_t rows = 0;  ///< with the padding
  int depth = 0;          ///< with the padding

  Panels() = default;
  Panels(std::int64_t n, std::int64_t features)
      : rows((n + width - 1) / width * width), depth(static_cast<int>((features + step - 1) / step * step)) {}
  [[nodiscard]] std::int64_t size() const { return rows * depth; }
  /// Offset of feature 0 of a row; feature f is f * width further.
  LEAGUE_FUNCTION std::int64_t first(std::int64_t row) const { return row / width * width * depth + row % width; }
};

/// A tile of dot products shared by the threads of a block, the same in CUDA and Kokkos: c[row][column] = a[row] .
/// b[column].
///
/// A thread keeps 2 x 2 squares of `pack` x `pack` sums (8 x 8 in f32, 4 x 4 in f64). A group of `down` x `across`
/// threads takes neighbouring squares, so that its 16-byte accesses to scratch have no bank conflicts: 128 distinct
/// bytes of b at a time, 64 of a. Scratch holds `depth` steps of both operands, double-buffered.
template <class Sum_, int rows_, int columns_, int depth_>
struct TileShape {
  using Sum = Sum_;
  static constexpr int rows = rows_, columns = columns_, depth = depth_;
  static constexpr int pack = Pack<Sum>::size;
  static constexpr int thread_rows = 2 * pack, thread_columns = 2 * pack;
  static constexpr int threads = rows * columns / (thread_rows * thread_columns);
  static constexpr int buffer = depth * (rows + columns);  ///< values
  static constexpr int scratch_bytes = 2 * buffer * static_cast<int>(sizeof(Sum));

  static constexpr int down = 4, across = 8, group = down * across;
  static constexpr int groups_across = columns / (across * thread_columns);
  static_assert(rows % (down * thread_rows) == 0 && columns % (across * thread_columns) == 0);
  static_assert(Panels::width % rows == 0 && Panels::width % columns == 0 && Panels::step % depth == 0);

  /// The first row and column of a thread's sums; sum[i][j] is at `first_row + row_step(i)`, `first_column +
  /// column_step(j)`.
  LEAGUE_FUNCTION static constexpr int first_row(int thread) {
    return thread / group / groups_across * down * thread_rows + thread % group / across * pack;
  }
  LEAGUE_FUNCTION static constexpr int first_column(int thread) {
    return thread / group % groups_across * across * thread_columns + thread % across * pack;
  }
  LEAGUE_FUNCTION static constexpr int row_step(int i) { return i / pack * down * pack + i % pack; }
  LEAGUE_FUNCTION static constexpr int column_step(int j) { return j / pack * across * pack + j % pack; }

  /// An operand of `height` rows is fetched in packs of rows: pack `thread + pass * threads` is at [step_of][row_of].
  /// Each pass of a thread has the same row, `pass_steps` further along the depth.
  LEAGUE_FUNCTION static constexpr int row_of(int thread, int height) { return thread % (height / pack) * pack; }
  LEAGUE_FUNCTION static constexpr int step_of(int thread, int height) { return thread / (height / pack); }
  LEAGUE_FUNCTION static constexpr int pass_steps(int height) { return threads / (height / pack); }
  LEAGUE_FUNCTION static constexpr int passes(int height) { return depth / pass_steps(height); }
  static_assert(passes(rows) * pass_steps(rows) == depth && passes(columns) * pass_steps(columns) == depth);
};

/// The tile shape of a team size: one square of sums per thread, at most 40 KB of scratch.
template <class Sum, int team>
struct TileFor;
template <>
struct TileFor<float, 256> : TileShape<float, 128, 128, 16> {};
template <>
struct TileFor<float, 128> : TileShape<float, 128, 64, 8> {};
template <>
struct TileFor<float, 64> : TileShape<float, 64, 64, 8> {};
template <>
struct TileFor<double, 256> : TileShape<double, 64, 64, 16> {};
template <>
struct TileFor<double, 128> : TileShape<double, 64, 32, 16> {};
template <>
struct TileFor<double, 64> : TileShape<double, 32, 32, 16> {};

/// The squared norm of a padding row: NaN, so that every comparison is false.
template <class Sum>
inline constexpr Sum no_norm = std::numeric_limits<Sum>::quiet_NaN();

/// Calls `put(i, value)` for `count` elements in order, several loads of `size` elements in flight.
/// @pre `count` is a multiple of `size`, and `from` aligned to as many elements
template <int size, class T, class Put>
LEAGUE_FUNCTION void for_elements(const T* from, int count, const Put& put) {
  constexpr int together = 8;
  using Packet = Pack<T, size* static_cast<int>(sizeof(T))>;
  for (int first = 0; first < count; first += together * size) {
    Packet packets[together];
    unrolled<together>([&](int p) {
      const int begin = first + p * size;
      if (begin < count) packets[p] = *reinterpret_cast<const Packet*>(from + begin);
    });
    unrolled<together>([&](int p) {
      const int begin = first + p * size;
      if (begin >= count) return;
      for (int e = 0; e < size; ++e) put(begin + e, packets[p].values[e]);
    });
  }
}

/// A team that packs rows: each row has `parts` threads, which share its features.
struct PackTeam {
  static constexpr int rows = 64, parts = 4, threads = rows * parts;
};

/// Packs the rows of data [n x features] from `first` on, as many as a team takes, as part of `panels`, and their
/// squared norms, added in double; NaN for rows of the padding. Threads of neighbouring rows write neighbouring
/// elements (coalesced). `partial` [PackTeam::threads] is scratch. @pre all threads call
template <class Element, class Barrier, class T, class Sum>
LEAGUE_FUNCTION void pack_panel_rows(const Group<Barrier>& team, const T* data, std::int64_t n, int features,
                                     const Panels& panels, std::int64_t first, typename Element::Packed* packed,
                                     Sum* norms, double* partial) {
  const int part = team.rank / PackTeam::rows, steps = panels.depth / Panels::step;
  const int begin = steps * part / PackTeam::parts * Panels::step;
  const int end = steps * (part + 1) / PackTeam::parts * Panels::step;
  const std::int64_t row = first + team.rank % PackTeam::rows;
  auto* to = packed + panels.first(row);
  double norm = 0;
  const auto put = [&](int f, T element) {
    const auto value = Element::pack(element);
    const double wide = Element::widen(value);
    to[std::int64_t{begin + f} * Panels::width] = value;
    norm += wide * wide;
  };
  const int left = row < n ? features - begin : 0, most = end - begin;
  const int there = left < 0 ? 0 : left < most ? left : most;
  constexpr int size = 4;  // elements of a load, where all rows are aligned to it
  if (features % size == 0)
    for_elements<size>(data + row * features + begin, there, put);
  else
    for_elements<1>(data + row * features + begin, there, put);
  for (int f = begin + there; f < end; ++f) to[std::int64_t{f} * Panels::width] = Element::padding();

  partial[team.rank] = norm;
  team.barrier();
  if (part == 0) {
    for (int other = 1; other < PackTeam::parts; ++other) norm += partial[team.rank + other * PackTeam::rows];
    norms[row] = row < n ? static_cast<Sum>(norm) : no_norm<Sum>;
  }
  team.barrier();
}

/// sum[i][j] = a[row] . b[column] (or the sum of another Term) for the thread's rows and columns of a tile, added in
/// the order of the depth. `a` and `b` point to feature 0 of the tile's first rows (`Panels::first`), `depth` is that
/// of the panels.
/// @pre a GPU; all Shape::threads threads of the team call; scratch has Shape::scratch_bytes, aligned to 16, and is
/// free again on return.
template <class Shape, class Element, class Term = ProductTerm, class Barrier, class Packed, class Sum>
LEAGUE_FUNCTION void product_tile(const Group<Barrier>& team, const Packed* a, const Packed* b, int depth, Sum* scratch,
                                  Sum (&sum)[Shape::thread_rows][Shape::thread_columns]) {
  constexpr int pack = Shape::pack, rows = Shape::rows, columns = Shape::columns, width = Panels::width;
  constexpr int passes_a = Shape::passes(rows), passes_b = Shape::passes(columns);
  using Packet = Pack<Packed, pack* static_cast<int>(sizeof(Packed))>;
  const int thread = team.rank;

  a += Shape::step_of(thread, rows) * width + Shape::row_of(thread, rows);
  b += Shape::step_of(thread, columns) * width + Shape::row_of(thread, columns);
  const auto fetch = [](const Packed* from, auto& packets, int steps) {
    for (Packet& packet : packets) packet = *reinterpret_cast<const Packet*>(from), from += steps * width;
  };
  const auto store = [](Sum* to, const auto& packets, int stride) {
    for (const Packet& packet : packets) {
      Pack<Sum> wide;
      for (int e = 0; e < pack; ++e) wide.values[e] = Element::widen(packet.values[e]);
      *reinterpret_cast<Pack<Sum>*>(to) = wide;
      to += stride;
    }
  };
  Packet next_a[passes_a], next_b[passes_b];
  const auto fetch_a = [&] { fetch(a, next_a, Shape::pass_steps(rows)); };
  const auto fetch_b = [&] { fetch(b, next_b, Shape::pass_steps(columns)); };
  Sum* to_a = scratch + Shape::step_of(thread, rows) * rows + Shape::row_of(thread, rows);
  Sum* to_b =
      scratch + Shape::depth * rows + Shape::step_of(thread, columns) * columns + Shape::row_of(thread, columns);
  const auto put_a = [&](int at) { store(to_a + at, next_a, Shape::pass_steps(rows) * rows); };
  const auto put_b = [&](int at) { store(to_b + at, next_b, Shape::pass_steps(columns) * columns); };
  const Sum* read_a = scratch + Shape::first_row(thread);
  const Sum* read_b = scratch + Shape::depth * rows + Shape::first_column(thread);
  int buffer = 0;
  const auto add = [&](int k) {
    Pack<Sum> x[2], y[2];
    for (int h = 0; h < 2; ++h) {
      x[h] = *reinterpret_cast<const Pack<Sum>*>(read_a + buffer + k * rows + Shape::row_step(h * pack));
      y[h] = *reinterpret_cast<const Pack<Sum>*>(read_b + buffer + k * columns + Shape::column_step(h * pack));
    }
    for (int i = 0; i < Shape::thread_rows; ++i)
      for (int j = 0; j < Shape::thread_columns; ++j)
        sum[i][j] = Term::add(sum[i][j], x[i / pack].values[i % pack], y[j / pack].values[j % pack]);
  };
  const auto add_half = [&]<int... k>(int begin, std::integer_sequence<int, k...>) { (add(begin + k), ...); };
  constexpr std::make_integer_sequence<int, Shape::depth / 2> half{};  // a pack expansion: always unrolled

  for (int i = 0; i < Shape::thread_rows; ++i)
    for (int j = 0; j < Shape::thread_columns; ++j) sum[i][j] = 0;
  fetch_a();
  fetch_b();
  team.barrier();
  put_a(0);
  put_b(0);
  team.barrier();
  for (int left = depth - Shape::depth; left >= 0; left -= Shape::depth) {
    // Software pipeline: operands of the next step are loaded while this step's products are added. The last step loads
    // itself again, which is cheaper than a condition.
    const int other = Shape::buffer - buffer, further = left > 0 ? Shape::depth * width : 0;
    a += further, b += further;
    fetch_a();
    add_half(0, half);
    put_a(other);
    fetch_b();
    add_half(Shape::depth / 2, half);
    put_b(other);
    team.barrier();
    buffer = other;
  }
}

}  // namespace league::blocks
