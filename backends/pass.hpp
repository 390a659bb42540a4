// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include "backends/launch.hpp"
#include "backends/runtime.hpp"

namespace league {

/// Placement of the arrays of a case: device memory; managed memory, migrated by faults or by a timed prefetch; pinned
/// host memory, streamed through the device in chunks.
enum class Placement { device, unified, unified_prefetch, streamed };

/// A type as an argument (tag).
template <class T>
struct Of {};

/// Default work per team.
struct Share {
  int team = 256;            ///< threads on a GPU
  int per_lane = 1;          ///< rows per lane at a time
  int per_team = 0;          ///< rows per team at a time, if independent of its lanes; 0: by lane
  bool whole_warps = false;  ///< team sizes are multiples of a warp
  int host_team = 1;         ///< threads on a host, where Kokkos has teams
  bool flat = false;         ///< Kokkos chooses the launch
};

/// Properties of a view: value type, and whether the kernel only reads.
template <class View>
struct Viewed;
template <class T>
struct Viewed<T*> {
  using Value = std::remove_const_t<T>;
  static constexpr bool input = std::is_const_v<T>;
};

/// A kernel's argument for an array of the device.
template <class View, class Array>
View view(const Array& array) {
  if constexpr (std::is_pointer_v<View>)
    return array.data();
  else
    return array.view();
}

}  // namespace league
