// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace league::logistic {

/// Calls `body.template operator()<D>()` with the smallest instantiated feature count that suffices.
template <class Body>
void with_features(int features, const Body& body) {
  if (features <= 1) return body.template operator()<1>();
  if (features <= 2) return body.template operator()<2>();
  if (features <= 4) return body.template operator()<4>();
  if (features <= 8) return body.template operator()<8>();
  if (features <= 16) return body.template operator()<16>();
  if (features <= 32) return body.template operator()<32>();
  body.template operator()<64>();
}

/// The same for up to `most` features. @pre there are no more
template <int most, class Body>
void with_features_up_to(int features, const Body& body) {
  with_features(features, [&]<int known>() {
    if constexpr (known <= most) body.template operator()<known>();
  });
}

}  // namespace league::logistic
