// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/blocks/pack.hpp"
#include "algorithms/blocks/unrolled.hpp"
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

/// The most threads that have numbers.
inline constexpr int max_ranks = kokkos::on_gpu ? 1024 : 1;

/// A barrier of the threads that share packs; on a host there is one.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION void meet(const Member& team) {
  if constexpr (kokkos::on_gpu) team.team_barrier();
}

/// The limits of a launch whose teams share packs, of `threads` threads at most.
inline LaunchLimits sharing_limits(LaunchLimits limits, int threads) {
  limits.team_times_vector = std::min({limits.team_times_vector, threads, max_ranks});
  return limits;
}

/// `count` values or packs in a team's scratch of level 0, as aligned as these are. @pre the policy's scratch has
/// `scratch_bytes` more
template <class T, class Member>
KOKKOS_FORCEINLINE_FUNCTION T* scratch_of(const Member& team, std::size_t count) {
  constexpr std::size_t alignment = alignof(T) > 16 ? alignof(T) : 16;
  return static_cast<T*>(
      __builtin_assume_aligned(team.team_scratch(0).get_shmem_aligned(count * sizeof(T), alignment), alignment));
}
template <class T>
constexpr std::size_t scratch_bytes(std::size_t count) {
  return count > 0 ? count * sizeof(T) + (alignof(T) > 16 ? alignof(T) : 16) : 0;
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

  /// How many of `count` values fit where the packs are.
  template <class T>
  static constexpr int lendable(int count) {
    constexpr int fit = 2 * packs * static_cast<int>(sizeof(Pack) / sizeof(T));
    return kokkos::on_gpu && fit < count ? fit : count;
  }
  /// Scratch for `count` values that is free between two sets of packs: on a GPU that of the packs; on a host, where
  /// these are read where they lie, scratch of its own. @pre `count` is lendable; the policy's scratch has `lent_bytes`
  /// more
  template <class T, class Member>
  KOKKOS_FORCEINLINE_FUNCTION auto lend([[maybe_unused]] const Member& team, int count) const {
    using Lent = Kokkos::View<T*, kokkos::Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    const auto size = static_cast<std::size_t>(count);
    if constexpr (kokkos::on_gpu)
      return Lent(static_cast<T*>(static_cast<void*>(scratch_)), size);
    else
      return Lent(scratch_of<T>(team, size), size);
  }
  template <class T>
  static constexpr std::size_t lent_bytes(int count) {
    return kokkos::on_gpu ? 0 : blocks::scratch_bytes<T>(static_cast<std::size_t>(count));
  }

 private:
  From from_;
  Pack* scratch_;
  std::int64_t first_ = 0;
  Pack next_[kokkos::on_gpu ? passes : 1];
};

/// Some packs of each of `rows` rows, which all threads of a team read. On a GPU they are copied to scratch through
/// registers, so that the next ones are loaded while these are used, each row followed by `padding` packs, so that
/// threads read other banks; on a host they are read where they lie.
template <class Pack, int rows, int packs, int threads, int padding = 0>
class StagedRows {
  using From = Kokkos::View<const Pack*, Kokkos::LayoutRight, kokkos::Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr bool copies = kokkos::on_gpu;
  static constexpr int pitch = packs + padding, passes = copies ? rows * packs / threads : 0;
  static constexpr std::size_t size = copies ? rows * pitch : 0;
  static_assert(!copies || rows * packs % threads == 0);

 public:
  /// @pre the policy's scratch has `scratch_bytes` more
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION explicit StagedRows(const Member& team) : scratch_(scratch_of<Pack>(team, size)) {}
  static constexpr std::size_t scratch_bytes() { return blocks::scratch_bytes<Pack>(size); }

  /// Reads from now on `from`, rows of `from_pitch` packs.
  KOKKOS_FORCEINLINE_FUNCTION void read(const From& from, std::int64_t from_pitch) {
    from_ = from.data(), from_pitch_ = from_pitch;  // not a View: its assignment would keep all of this in memory
  }
  /// Fetches the packs from `first` on, of `count` rows: on a GPU the others are zeros, on a host the last one.
  KOKKOS_FORCEINLINE_FUNCTION void fetch([[maybe_unused]] int thread, std::int64_t first, int count) {
    first_ = first, count_ = count;
    if constexpr (copies)
      for (int pass = 0; pass < passes; ++pass) {
        const int at = thread + pass * threads, row = at / packs, column = at % packs;
        next_[pass] = row < count ? from_[first + row * from_pitch_ + column] : Pack{};
      }
  }
  /// Makes the fetched packs those that `at` returns. @pre a barrier before, and after
  KOKKOS_FORCEINLINE_FUNCTION void put([[maybe_unused]] int thread) {
    if constexpr (copies)
      for (int pass = 0; pass < passes; ++pass) {
        const int at = thread + pass * threads;
        scratch_[at / packs * pitch + at % packs] = next_[pass];
      }
    else
      place_ = first_, there_ = count_;
  }
  /// Where a row begins.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(int row) const {
    if constexpr (copies)
      return row * pitch;
    else
      return place_ + (row < there_ ? row : there_ - 1) * from_pitch_;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION const Pack& at(std::int64_t place) const {
    if constexpr (copies)
      return scratch_[place];
    else
      return from_[place];
  }

 private:
  const Pack* from_ = nullptr;
  std::int64_t from_pitch_ = 0;
  Pack* scratch_;
  std::int64_t first_ = 0, place_ = 0;
  int count_ = 0, there_ = 0;
  Pack next_[copies ? passes : 1];
};

/// `packs` neighbouring packs, which all threads of a team read. On a GPU they are copied to scratch, 16 bytes at a
/// time, all of which a thread loads together; on a host they are read where they lie.
template <class Packed, int packs, int threads>
class StagedPacks {
  using From =
      Kokkos::View<const Packed*, Kokkos::LayoutRight, kokkos::Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Piece = Pack<float>;  // of 16 bytes
  static constexpr bool copies = kokkos::on_gpu;
  static constexpr int passes = packs * static_cast<int>(sizeof(Packed)) / static_cast<int>(sizeof(Piece)) / threads;
  static constexpr std::size_t size = copies ? passes * threads : 0;
  static_assert(!copies || passes * threads * sizeof(Piece) == packs * sizeof(Packed));

 public:
  /// @pre the policy's scratch of level 0 has `bytes` more
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION StagedPacks(const Member& team, const From& from)
      : from_(from.data()), copy_(scratch_of<Piece>(team, size)) {}
  static constexpr std::size_t bytes() { return scratch_bytes<Piece>(size); }

  /// Makes these packs those from pack `first` on. @pre that is at a multiple of 16 bytes; a barrier before, and after;
  /// all threads call
  KOKKOS_FORCEINLINE_FUNCTION void stage([[maybe_unused]] int thread, std::int64_t first) {
    first_ = first;
    if constexpr (copies) {
      const auto* from = static_cast<const Piece*>(static_cast<const void*>(from_ + first));
      Piece next[passes];
      for (int pass = 0; pass < passes; ++pass) next[pass] = from[thread + pass * threads];
      for (int pass = 0; pass < passes; ++pass) copy_[thread + pass * threads] = next[pass];
    }
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION const Packed& operator()(int i) const {
    if constexpr (copies)
      return static_cast<const Packed*>(static_cast<const void*>(copy_))[i];
    else
      return from_[first_ + i];
  }

 private:
  const Packed* from_;
  Piece* copy_;
  std::int64_t first_ = 0;
};

/// Up to `rows` elements of some columns, values or packs, which all lanes of a team read. On a GPU they are copied to
/// scratch, each column followed by an element more, so that lanes read other banks; on a host they are read where they
/// lie.
template <class T, int rows>
class StagedColumns {
  using From = Kokkos::View<const T*, Kokkos::LayoutRight, kokkos::Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Scratch = Kokkos::View<T*, kokkos::Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr bool copies = kokkos::on_gpu;
  static constexpr int pitch = rows + 1, in_flight = 8;

 public:
  /// `from`: columns of `from_pitch` elements each.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION StagedColumns(const Member& team, const From& from, std::int64_t from_pitch, int columns)
      : from_(from),
        from_pitch_(from_pitch),
        columns_(columns),
        copy_(scratch_of<T>(team, size(columns)), size(columns)) {}
  static std::size_t bytes(int columns) { return scratch_bytes<T>(size(columns)); }

  /// Makes these elements `count` from element `first` on. @pre a barrier before, and after; the whole team calls
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void stage(const Member& team, std::int64_t first, [[maybe_unused]] int count) {
    first_ = first;
    if constexpr (copies) {
      const int all = columns_ * rows, apart = (all + in_flight - 1) / in_flight;
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, apart), [&](int lane) {
        T next[in_flight];  // loaded together
        unrolled<in_flight>([&](int n) {
          const int item = lane + n * apart, column = item / rows, row = item % rows;
          if (item < all && row < count) next[n] = from_(column * from_pitch_ + first_ + row);
        });
        unrolled<in_flight>([&](int n) {
          const int item = lane + n * apart, column = item / rows, row = item % rows;
          if (item < all && row < count) copy_(column * pitch + row) = next[n];
        });
      });
    }
  }
  /// A column of these elements.
  class Column {
   public:
    KOKKOS_FORCEINLINE_FUNCTION explicit Column(const T* begin) : begin_(begin) {}
    KOKKOS_FORCEINLINE_FUNCTION const T& operator()(int row) const { return begin_[row]; }

   private:
    const T* begin_;
  };
  /// Columns behind the last one are that one.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION Column operator()(int column) const {
    const int here = column < columns_ ? column : columns_ - 1;
    if constexpr (copies)
      return Column(copy_.data() + here * pitch);
    else
      return Column(from_.data() + here * from_pitch_ + first_);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static std::size_t size(int columns) {
    return static_cast<std::size_t>(copies ? columns * pitch : 0);
  }

  From from_;
  std::int64_t from_pitch_, first_ = 0;
  int columns_;
  Scratch copy_;
};

}  // namespace league::blocks
