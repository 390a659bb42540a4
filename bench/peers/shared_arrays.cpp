// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/shared_arrays.hpp"

#include "algorithms/contract/budget.hpp"
#include "backends/host_memory.hpp"
#include "backends/launch.hpp"

namespace league::bench {
namespace {

constexpr std::size_t alignment = 64;

std::size_t affordable(std::size_t size, std::int64_t free_bytes) {
  const auto bytes = static_cast<std::int64_t>(size);
  if (bytes > free_bytes)
    throw Unsupported("needs " + readable_bytes(bytes) + " of host memory to share arrays with a process, " +
                      readable_bytes(free_bytes) + " are free");
  return size;
}

}  // namespace

std::vector<SharedArrays::Place> SharedArrays::places_of(const Outputs& arrays) {
  std::vector<Place> places;
  std::size_t offset = 0;
  for (const Output& array : arrays) {
    const std::size_t size = array.values.bytes().size();
    places.push_back({array.name, array.values.dtype(), array.values.shape(), offset, size});
    offset += ceil_div(size, alignment) * alignment;
  }
  return places;
}

SharedArrays::SharedArrays(const Outputs& arrays, std::int64_t free_bytes)
    : places_(places_of(arrays)),
      memory_(affordable(places_.empty() ? 0 : places_.back().offset + places_.back().size, free_bytes)) {}

void SharedArrays::copy_from(const Outputs& arrays) {
  for (std::size_t i = 0; i < places_.size(); ++i)
    copy_bytes(arrays.at(i).values.bytes(), memory_.bytes().subspan(places_[i].offset, places_[i].size));
}

void SharedArrays::copy_to(Outputs& arrays) const {
  for (std::size_t i = 0; i < places_.size(); ++i)
    copy_bytes(memory_.bytes().subspan(places_[i].offset, places_[i].size), arrays.at(i).values.bytes());
}

void SharedArrays::poison() { fill_bytes(memory_.bytes(), std::byte{0xff}); }

nlohmann::ordered_json SharedArrays::layout() const {
  nlohmann::ordered_json arrays = nlohmann::ordered_json::array();
  for (const Place& place : places_)
    arrays.push_back(
        {{"name", place.name}, {"dtype", name(place.dtype)}, {"shape", place.shape}, {"offset", place.offset}});
  return {{"bytes", memory_.bytes().size()}, {"arrays", arrays}};
}

}  // namespace league::bench
