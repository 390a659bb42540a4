// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/difference.hpp"

#include <algorithm>
#include <cmath>
#include <memory_resource>

#include "algorithms/contract/with_type.hpp"
#include "backends/host_memory.hpp"

namespace league::bench {
namespace {

double relative(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double share = std::abs(a - b) / std::max(std::abs(a), std::abs(b));
  return std::isfinite(share) ? std::min(share, 1.0) : 1.0;
}

template <class T>
double difference_of(std::span<const T> a, std::span<const T> b) {
  double sum = 0;
  const auto size = static_cast<std::int64_t>(a.size());
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    sum += relative(static_cast<double>(a[at]), static_cast<double>(b[at]));
  }
  return sum;
}

}  // namespace

Outputs copies(const Outputs& results) {
  Outputs all;
  for (const Output& result : results) {
    all.push_back({result.name,
                   HostArray(*std::pmr::new_delete_resource(), result.values.dtype(), result.values.shape()),
                   result.rows, result.form});
    copy_bytes(result.values.bytes(), all.back().values.bytes());
  }
  return all;
}

double difference(const Outputs& a, const Outputs& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += with_type<float, double, std::int32_t, std::int64_t, std::uint8_t>(a[i].values.dtype(), [&]<class T>() {
      return difference_of<T>(a[i].values.values<T>(), b[i].values.values<T>());
    });
  return sum;
}

}  // namespace league::bench
