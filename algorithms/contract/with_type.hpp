// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "backends/array.hpp"
#include "backends/backend.hpp"

namespace league {

/// Calls `body.template operator()<T>()` with the type of `dtype`, one of those listed.
/// @throws Unsupported for any other
template <class T, class... Others, class Body>
auto with_type(Dtype dtype, const Body& body) -> decltype(body.template operator()<T>()) {
  if (dtype == dtype_of<T>) return body.template operator()<T>();
  if constexpr (sizeof...(Others) > 0)
    return with_type<Others...>(dtype, body);
  else
    throw Unsupported("no kernel for " + std::string(name(dtype)) + " in this variant");
}

}  // namespace league
