// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include "backends/launch.hpp"
#include "backends/runtime.hpp"

namespace league {

/// Where the arrays of a case live: in the device's memory; in pages that move to where they are used, by faults or by
/// a prefetch that is timed; in pinned host memory, from which chunks are streamed through the device.
enum class Placement { device, unified, unified_prefetch, streamed };

/// A type as an argument.
template <class T>
struct Of {};

/// What a team of a kernel takes where the launch leaves it open.
struct Share {
  int team = 256;            ///< threads on a GPU
  int per_lane = 1;          ///< rows that a lane takes at a time
  int per_team = 0;          ///< rows that a team takes at a time, where that does not depend on its lanes
  bool whole_warps = false;  ///< a team is made of whole warps
};

/// What a view of an array says: its values' type, and whether the kernel only reads them.
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
