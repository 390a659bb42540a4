// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

/// The number of the calling thread in its team: on a host 0, since teams that share packs are one thread there.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION int rank(const Member& team) {
  if constexpr (kokkos::on_gpu)
    return team.team_rank();
  else
    return 0;
}

/// A barrier of the threads that share packs; on a host there is one.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION void meet(const Member& team) {
  if constexpr (kokkos::on_gpu) team.team_barrier();
}

/// Packs that all threads of a team read, [steps][packs]. On a GPU a step is copied to scratch through registers, so
/// that the next one is loaded while one is used; on a host it is read where it lies, and the caches hold it.
template <class Pack, int packs, int threads>
class Staged {
  using From = Kokkos::View<const Pack*, Kokkos::LayoutRight, kokkos::Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int passes = kokkos::on_gpu ? packs / threads : 0;
  static_assert(!kokkos::on_gpu || packs % threads == 0);

 public:
  /// @pre the policy's scratch has `scratch_bytes` more
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION Staged(const Member& team, const From& from)
      : from_(from),
        scratch_(kokkos::on_gpu ? kokkos::aligned_scratch<Pack>(team, 2 * packs * sizeof(Pack)) : nullptr) {}
  static constexpr std::size_t scratch_bytes() { return kokkos::on_gpu ? 2 * packs * sizeof(Pack) + 16 : 0; }

  /// Fetches step 0 from pack `first` on.
  KOKKOS_FORCEINLINE_FUNCTION void begin(int thread, std::int64_t first) {
    first_ = first;
    fetch(thread, 0);
  }
  KOKKOS_FORCEINLINE_FUNCTION void fetch([[maybe_unused]] int thread, [[maybe_unused]] int step) {
    if constexpr (kokkos::on_gpu)
      for (int pass = 0; pass < passes; ++pass)
        next_[pass] = from_(first_ + std::int64_t{step} * packs + pass * threads + thread);
  }
  /// Makes the fetched packs those of step `step`, after the next `meet`.
  KOKKOS_FORCEINLINE_FUNCTION void put([[maybe_unused]] int thread, [[maybe_unused]] int step) {
    if constexpr (kokkos::on_gpu)
      for (int pass = 0; pass < passes; ++pass) scratch_[step % 2 * packs + pass * threads + thread] = next_[pass];
  }
  /// Pack `i` of step `step`.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION Pack at(int step, int i) const {
    if constexpr (kokkos::on_gpu)
      return scratch_[step % 2 * packs + i];
    else
      return from_(first_ + std::int64_t{step} * packs + i);
  }

 private:
  From from_;
  Pack* scratch_;
  std::int64_t first_ = 0;
  Pack next_[kokkos::on_gpu ? passes : 1];
};

}  // namespace league::blocks
