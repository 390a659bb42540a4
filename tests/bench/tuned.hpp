// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "bench/tune/tuned_file.hpp"

/// Tuned entries of vector_add for tests.
namespace league::bench {

inline TunedKey key(const std::string& model, std::int64_t n, const std::string& method = "plain") {
  return {.algorithm = "vector_add",
          .dtype = "f32",
          .sizes = {{"n", n}},
          .parameters = {{"memory", "device"}, {"stores", "non_temporal"}},
          .method = method,
          .model = model,
          .communicator = "local"};
}

inline TunedEntry entry(const TunedKey& key, const Launch& best) {
  return {.key = key,
          .search = {},
          .skipped = {},
          .automatic = {4, 256, 1, 1024},
          .automatic_s = 2e-6,
          .best = best,
          .best_s = 1.5e-6,
          .candidates = 9,
          .refused = 3,
          .failed = 1};
}

}  // namespace league::bench
