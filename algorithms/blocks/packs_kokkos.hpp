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

/// Pack `i`, for loops that select among packs; elsewhere a copy of `packs(i)` does. On a GPU as a whole, since nvcc
/// loads element by element what is copied so; on a host element by element, since GCC 12 does not vectorise a loop in
/// which a select follows the copy of a whole pack.
template <class Pack, class... Properties, class Index>
KOKKOS_FORCEINLINE_FUNCTION std::remove_const_t<Pack> load(const Kokkos::View<Pack*, Properties...>& packs, Index i) {
  if constexpr (kokkos::on_gpu) {
    return packs(i);
  } else {
    std::remove_const_t<Pack> pack;
    for (int k = 0; k < Pack::size; ++k) pack.values[k] = packs(i).values[k];
    return pack;
  }
}

}  // namespace league::blocks
