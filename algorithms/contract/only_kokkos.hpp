// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <string>

namespace league {

/// `Method::not_expressible` of what Kokkos maps by itself (`flat`): in the other models, for this reason.
inline std::map<std::string, std::string> only_kokkos(const std::string& why) {
  return {{"serial", why}, {"openmp", why}, {"cuda", why}, {"hip", why}};
}

}  // namespace league
