// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/distance_matrix/kokkos_host.hpp"

// The kernels of `kokkos` on a host, with non-temporal stores.
namespace league::distance_matrix {
namespace {

template <class T, Kind kind>
using Streaming = kokkos_model::PortableHost<T, kind, blocks::NativeWords>;
using Registered = RegisterSplit<DistanceMatrix>;
const Registered direct{"direct", kokkos::blocks_model, by_type<Streaming, Kind::direct>};
const Registered tiled{"tiled", kokkos::blocks_model, by_type<Streaming, Kind::tiled>};
const Registered symmetric{"symmetric", kokkos::blocks_model, by_type<Streaming, Kind::symmetric>};
const Registered product{"product", kokkos::blocks_model, by_type<Streaming, Kind::product>};

}  // namespace
}  // namespace league::distance_matrix
