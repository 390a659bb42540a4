// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "algorithms/blocks/pack.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

/// `width` neighbouring elements; const like the element.
template <class T, int width>
using PackOf =
    std::conditional_t<std::is_const_v<T>, const Pack<std::remove_const_t<T>, width* static_cast<int>(sizeof(T))>,
                       Pack<T, width* static_cast<int>(sizeof(T))>>;

template <class T, int width>
using Packs =
    Kokkos::View<PackOf<T, width>*, Kokkos::LayoutRight, kokkos::Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The whole packs of a vector, [extent / width]; the elements after the last one are left to the caller.
/// @throws std::logic_error unless the vector is aligned to packs
template <int width, class T, class... Properties>
Packs<T, width> packs(const Kokkos::View<T*, Properties...>& vector) {
  if (reinterpret_cast<std::uintptr_t>(vector.data()) % alignof(PackOf<T, width>) != 0)
    throw std::logic_error(vector.label() + " is not aligned to packs of " + std::to_string(width));
  return Packs<T, width>(reinterpret_cast<PackOf<T, width>*>(vector.data()), vector.extent(0) / width);
}

template <class T, int width, int rows, int columns>
using PackBlocks = Kokkos::View<PackOf<T, width>* [rows][columns], Kokkos::LayoutRight, kokkos::Memory,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The whole packs of a vector as blocks of `rows` x `columns`, whose addresses differ by constants.
template <int width, int rows, int columns, class T, class... Properties>
PackBlocks<T, width, rows, columns> pack_blocks(const Kokkos::View<T*, Properties...>& vector) {
  const Packs<T, width> all = packs<width>(vector);
  return PackBlocks<T, width, rows, columns>(all.data(), all.extent(0) / (rows * columns));
}

/// A pack that is used as a whole, `const LoadedPack<T, width> x = packs(i)`: on a GPU a copy, which is loaded at once;
/// on a host where it lies, since GCC 12 copies such a copy through the stack.
template <class T, int width>
using LoadedPack = std::conditional_t<kokkos::on_gpu, PackOf<T, width>, const PackOf<T, width>&>;

/// `fill(pack)` sets all elements of pack `i`: on a GPU of a copy, which is stored at once; on a host where it lies.
template <class Packs, class Fill>
KOKKOS_FORCEINLINE_FUNCTION void fill_pack(const Packs& packs, std::int64_t i, const Fill& fill) {
  if constexpr (kokkos::on_gpu) {
    typename Packs::value_type pack;
    fill(pack);
    packs(i) = pack;
  } else {
    fill(packs(i));
  }
}

/// What `load()` loads, where it `counts`, else zeros. On a GPU it is called only where it counts; on a host always,
/// since GCC 12 vectorises a select after a load, but no load under a condition. @pre `load()` may be called in any
/// case
template <class Load>
KOKKOS_FORCEINLINE_FUNCTION auto load_or_zero(bool counts, const Load& load) {
  using Value = decltype(load());
  if constexpr (kokkos::on_gpu) {
    return counts ? load() : Value{};
  } else {
    const Value loaded = load();
    return counts ? loaded : Value{};
  }
}

/// The same where what does not count is multiplied by zero: on a host it is what `load()` loads, without a select.
template <class Load>
KOKKOS_FORCEINLINE_FUNCTION auto load_for_product(bool counts, const Load& load) {
  using Value = decltype(load());
  if constexpr (kokkos::on_gpu)
    return counts ? load() : Value{};
  else
    return load();
}

}  // namespace league::blocks
