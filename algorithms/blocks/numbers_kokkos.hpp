// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/contract/writing.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

/// The integers by which a kernel that is written once differs between kinds of device. 0: the kernel has no such
/// number. A number is the size of something: never a condition, and it selects neither a type nor a function.
struct Numbers {
  int tile = 0;     ///< elements or rows that a team takes at a time
  int columns = 0;  ///< of these rows
  int slab = 0;     ///< planes of these, at most
  int width = 0;    ///< neighbouring elements that a lane takes together
  int rows = 0;     ///< rows of these
  int height = 0;   ///< neighbouring rows that it loads together
  int depth = 0;    ///< steps that a lane has in flight, or takes one after another
  int values = 0;   ///< elements of all columns that a lane holds at once, at most
  int sums = 0;     ///< partial sums of a value that a lane has side by side
  int team = 0;     ///< threads, unless the launch says otherwise
  int vector = 0;   ///< lanes of a thread, unless the launch says otherwise
  int level = 0;    ///< of scratch memory
  int teams = 0;    ///< resident teams per multiprocessor that launch bounds ask for
};

/// The numbers of the kind of device that this executable has. A build with LEAGUE_SWAP_NUMBERS takes those of the
/// other kind, which shows what they are worth.
constexpr Numbers by_kind(const Numbers& gpu, const Numbers& host) {
#if defined(LEAGUE_SWAP_NUMBERS)
  return kokkos::on_gpu ? host : gpu;
#else
  return kokkos::on_gpu ? gpu : host;
#endif
}

/// The vector registers of this build's host: their size, and how many there are.
#if defined(__AVX512F__)
inline constexpr int host_vector_bytes = 64, host_vectors = 32;
#else
inline constexpr int host_vector_bytes = 32, host_vectors = 16;
#endif

/// The numbers by name, for the registration; `of`: of a kernel that is not the method's first ("finish").
inline NamedNumbers named(const Numbers& numbers, const std::string& of = "") {
  NamedNumbers found;
  for (const auto& [name, value] : {std::pair{"tile", numbers.tile},
                                    {"columns", numbers.columns},
                                    {"slab", numbers.slab},
                                    {"width", numbers.width},
                                    {"rows", numbers.rows},
                                    {"height", numbers.height},
                                    {"depth", numbers.depth},
                                    {"values", numbers.values},
                                    {"sums", numbers.sums},
                                    {"team", numbers.team},
                                    {"vector", numbers.vector},
                                    {"level", numbers.level},
                                    {"teams", numbers.teams}})
    if (value > 0) found.emplace_back(of.empty() ? name : of + " " + name, value);
  return found;
}

/// Lanes that a device holds at once: on a GPU the launch bounds leave registers for `teams` teams of `max_lanes` on
/// each multiprocessor.
inline int lanes_at_once(const kokkos::Exec& exec, const Numbers& numbers, int max_lanes) {
  constexpr int most = 2048;  // of a multiprocessor, as concurrency() counts
  const int held = kokkos::on_gpu ? std::min(numbers.teams * max_lanes, most) : most;
  return static_cast<int>(std::int64_t{exec.concurrency()} * held / most);
}

/// The default work of a team of a one-pass kernel.
inline Share share_of(const Numbers& numbers) {
  return {.team = numbers.team,
          .per_lane = std::max(numbers.width, 1) * std::max(numbers.depth, 1),
          .per_team = numbers.tile,
          .host_team = numbers.team};
}

}  // namespace league::blocks
