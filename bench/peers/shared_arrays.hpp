// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include "algorithms/contract/problem.hpp"
#include "backends/python/shared_memory.hpp"

namespace league::bench {

/// Arrays in one shared-memory file that another process maps.
class SharedArrays {
 public:
  /// Room for arrays of these types and shapes.
  /// @throws Unsupported if they take more than `free_bytes`
  SharedArrays(const Outputs& arrays, std::int64_t free_bytes);

  void copy_from(const Outputs& arrays);
  void copy_to(Outputs& arrays) const;
  /// All bytes 0xff.
  void poison();

  [[nodiscard]] int file() const { return memory_.file(); }
  /// Their layout: {"bytes", "arrays": [{"name", "dtype", "shape", "offset"}]}.
  [[nodiscard]] nlohmann::ordered_json layout() const;

 private:
  struct Place {
    std::string name;
    Dtype dtype;
    std::vector<std::int64_t> shape;
    std::size_t offset, size;
  };
  static std::vector<Place> places_of(const Outputs& arrays);

  std::vector<Place> places_;
  python::SharedMemory memory_;
};

}  // namespace league::bench
