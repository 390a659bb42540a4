// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace league::cuda {

/// Access of a GPU to the memory of another. `broken`: the driver reports it, but what is copied does not arrive, as
/// with an IOMMU or ACS between them.
enum class PeerAccess { none, works, broken };

/// Enables the access where the driver reports it and tries it, once for each pair. @throws std::runtime_error where a
/// call fails
PeerAccess peer_access(int from, int to);

}  // namespace league::cuda
