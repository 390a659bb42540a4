// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/communicator.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::kokkos {

/// The values of an array, for a communicator.
template <class T>
Buffer buffer_of(const Array<T>& array) {
  return league::buffer_of(array.data(), array.size());
}

}  // namespace league::kokkos
