// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/tiled/kokkos_specialised.hpp"

#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/words_native.hpp"

namespace league::distance_matrix {
namespace {

template <class T, Kind kind>
using Tiled = kokkos_model::TiledOrHost<blocks::NativeThreads, blocks::NativeWords, T, kind>;
using Registered = RegisterSplit<DistanceMatrix>;
const Registered tiled{"tiled", kokkos::specialised_model, by_type<Tiled, Kind::tiled>};
const Registered symmetric{"symmetric", kokkos::specialised_model, by_type<Tiled, Kind::symmetric>};
const Registered product{"product", kokkos::specialised_model, by_type<Tiled, Kind::product>};

}  // namespace
}  // namespace league::distance_matrix
