// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "backends/array.hpp"
#include "bench/json.hpp"

namespace league::own {

/// An array of the problem in memory that both processes share.
struct Shared {
  std::string name;
  Dtype dtype;
  std::vector<std::int64_t> shape;
  std::span<std::uint8_t> bytes;
};

/// The arrays of an open file.
inline std::vector<Shared> mapped(const bench::Json& layout, int protection) {
  const auto size = layout.at("bytes").get<std::size_t>();
  void* memory = mmap(nullptr, size, protection, MAP_SHARED, layout.at("file").get<int>(), 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  std::vector<Shared> arrays;
  for (const bench::Json& array : layout.at("arrays")) {
    Shared one{array.at("name"), dtype_from(array.at("dtype").get<std::string>()), array.at("shape"), {}};
    const auto values = static_cast<std::size_t>(checked_product(one.shape));
    one.bytes = {static_cast<std::uint8_t*>(memory) + array.at("offset").get<std::size_t>(),
                 values * size_bytes(one.dtype)};
    arrays.push_back(std::move(one));
  }
  return arrays;
}

}  // namespace league::own
