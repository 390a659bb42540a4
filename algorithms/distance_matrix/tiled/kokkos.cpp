// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/tiled/kokkos_specialised.hpp"

namespace league::distance_matrix {
namespace {

template <class T, Kind kind>
using Tiled = kokkos_model::TiledOrHost<blocks::TeamThreads, blocks::PlainWords, T, kind>;
using Registered = RegisterSplit<DistanceMatrix>;
const Registered tiled{"tiled", kokkos::model, by_type<Tiled, Kind::tiled>};
const Registered symmetric{"symmetric", kokkos::model, by_type<Tiled, Kind::symmetric>};
const Registered product{"product", kokkos::model, by_type<Tiled, Kind::product>};

}  // namespace
}  // namespace league::distance_matrix
