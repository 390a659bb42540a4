// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "algorithms/knn/knn.hpp"
#include "algorithms/oracle/generate.hpp"
#include "tests/runtime.hpp"

/// Problems of k-NN for tests.
namespace league::knn {

inline std::unique_ptr<Knn> make(const Dataset& data, Dtype dtype, int k, const char* votes = "eps") {
  const Parameters parameters{{{"k", std::to_string(k)}, {"votes", votes}}};
  std::pmr::memory_resource& memory = tests::runtime().host_memory();
  auto problem = std::make_unique<Knn>(Making{parameters, dtype, 1, &data, ""});
  problem->make_inputs({0, problem->extent()}, memory);
  return problem;
}

/// Generated rows: pixels with `levels` grey levels, or numbers in [-1/2, 1/2).
inline Dataset generated(std::int64_t train, std::int64_t test, std::int64_t features, Dtype dtype,
                         std::uint64_t levels) {
  std::pmr::memory_resource& memory = tests::runtime().host_memory();
  Dataset data{HostArray(memory, dtype, {train, features}), HostArray(memory, Dtype::i32, {train}),
               HostArray(memory, dtype, {test, features}), HostArray(memory, Dtype::i32, {test}), 5};
  std::uint64_t stream = 0;
  for (HostArray array : {data.train, data.test}) {
    ++stream;
    if (dtype == Dtype::f32) fill_random(array.values<float>(), 3, stream);
    for (std::uint64_t i = 0; dtype == Dtype::u8 && i < static_cast<std::uint64_t>(array.size()); ++i)
      array.values<std::uint8_t>()[i] =
          static_cast<std::uint8_t>(255 / (levels - 1) * random_below(levels, 3, stream, i));
  }
  for (HostArray labels : {data.train_labels, data.test_labels}) {
    ++stream;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(labels.size()); ++i)
      labels.values<std::int32_t>()[i] = static_cast<std::int32_t>(random_below(5, 3, stream, i));
  }
  return data;
}

}  // namespace league::knn
