// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "backends/kokkos/kokkos.hpp"

namespace league::kokkos {

/// `Kokkos::parallel_for` over teams, for kernels without launch bounds.
/// @throws Unsupported if the kernel needs too many registers for such a team
template <class Policy, class Functor>
void for_teams(const std::string& label, const Policy& policy, const Functor& functor) {
  const int max_team = policy.team_size_max(functor, Kokkos::ParallelForTag());
  if (policy.team_size() > max_team)
    throw Unsupported("team size " + std::to_string(policy.team_size()) + ": this kernel takes up to " +
                      std::to_string(max_team));
  Kokkos::parallel_for(label, policy, functor);
}

}  // namespace league::kokkos
