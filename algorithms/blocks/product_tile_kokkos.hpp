// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "algorithms/blocks/product_tile.hpp"
#include "algorithms/blocks/term.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

// A thread takes a row at a time; neighbouring threads write neighbouring elements of the panel (coalesced).
/// Packs data [n x features] as `panels`, and the squared norm of each row, added in double; NaN for rows of the
/// padding.
template <class Element, class T, class Sum>
void pack(const kokkos::Exec& exec, const T* data, std::int64_t n, std::int64_t features,
          typename Element::Packed* packed, Sum* norms) {
  const Panels panels(n, features);
  constexpr int threads = 64;  // many small teams, to occupy all multiprocessors
  const auto teams = panels.rows / threads;
  const auto columns = static_cast<int>(features);
  Kokkos::parallel_for(
      "blocks/pack", kokkos::Team(exec, static_cast<int>(teams < (1 << 20) ? teams : 1 << 20), threads, 1),
      KOKKOS_LAMBDA(const kokkos::Member& team) {
        const std::int64_t stride = std::int64_t{team.league_size()} * team.team_size();
        for (std::int64_t row = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
             row < panels.rows; row += stride) {
          const T* from = data + row * columns;
          auto* to = packed + panels.first(row);
          const int there = row < n ? columns : 0;
          double norm = 0;
          const auto put = [&](int f, T element) {
            const auto value = Element::pack(element);
            const double wide = Element::widen(value);
            to[std::int64_t{f} * Panels::width] = value;
            norm += wide * wide;
          };
          using Packet = Pack<T, 4 * static_cast<int>(sizeof(T))>;  // rows are aligned to packets
          const int whole = columns % Packet::size == 0 ? there : 0;
          for (int f = 0; f < whole; f += Packet::size) {
            const Packet packet = *reinterpret_cast<const Packet*>(from + f);
            for (int e = 0; e < Packet::size; ++e) put(f + e, packet.values[e]);
          }
          for (int f = whole; f < there; ++f) put(f, from[f]);
          for (int f = there; f < panels.depth; ++f) to[std::int64_t{f} * Panels::width] = Element::padding();
          norms[row] = row < n ? static_cast<Sum>(norm) : no_norm<Sum>;
        }
      });
}

/// sum[i][j] = a[row] . b[column] (or the sum of another Term) for the thread's rows and columns of a tile, added in
/// the order of the depth. `a` and `b` point to feature 0 of the tile's first rows (`Panels::first`), `depth` is that
/// of the panels.
/// @pre a GPU, team_size == Shape::threads, vector length 1; scratch has Shape::scratch_bytes, aligned to 16, and is
/// free again on return.
template <class Shape, class Element, class Term = ProductTerm, class Member, class Packed, class Sum>
KOKKOS_FUNCTION void product_tile(const Member& team, const Packed* a, const Packed* b, int depth, Sum* scratch,
                                  Sum (&sum)[Shape::thread_rows][Shape::thread_columns]) {
  constexpr int pack = Shape::pack, rows = Shape::rows, columns = Shape::columns, width = Panels::width;
  constexpr int passes_a = Shape::passes(rows), passes_b = Shape::passes(columns);
  using Packet = Pack<Packed, pack* static_cast<int>(sizeof(Packed))>;
  const int thread = team.team_rank();

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
  team.team_barrier();
  put_a(0);
  put_b(0);
  team.team_barrier();
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
    team.team_barrier();
    buffer = other;
  }
}

}  // namespace league::blocks
