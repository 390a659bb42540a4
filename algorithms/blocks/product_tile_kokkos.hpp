// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/product_tile.hpp"
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

}  // namespace league::blocks
