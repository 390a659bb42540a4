// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/idx.hpp"

#include <algorithm>
#include <string>

#include "algorithms/contract/budget.hpp"
#include "backends/array.hpp"
#include "backends/host_limits.hpp"
#include "bench/data/bytes.hpp"

namespace league::bench {
namespace {

constexpr std::uint8_t unsigned_byte = 0x08;

/// Images are read, then copied into the dataset. @throws BadInput where there is no memory for both
void require_room(const Bytes& bytes, std::int64_t size) {
  const std::int64_t spare = free_host_memory().free_bytes;
  if (size > spare / 2)
    bytes.refuse("the header promises " + readable_bytes(size) +
                     " of values: reading them needs twice as much host memory, " + readable_bytes(spare) + " are free",
                 4);
}

std::int64_t big_endian(const std::vector<std::uint8_t>& bytes) {
  std::int64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

void require_magic(Bytes& bytes, int dimensions) {
  const std::vector<std::uint8_t> magic = bytes.read(4);
  if (magic.size() < 4) bytes.refuse("the file ends within its header");
  if (magic[0] == '<') bytes.refuse("no IDX file: it is a page that a server has sent in its place", 0);
  if (magic[0] == 0x1f && magic[1] == 0x8b)
    bytes.refuse("no IDX file: it was compressed twice, unpack it once (gzip -d)", 0);
  if (magic[0] != 0 || magic[1] != 0) bytes.refuse("no IDX file: it does not begin with two zero bytes", 0);
  if (magic[2] != unsigned_byte)
    bytes.refuse("holds values of type " + std::to_string(magic[2]) + ", not unsigned bytes (8)", 2);
  if (magic[3] != dimensions)
    bytes.refuse("has " + std::to_string(magic[3]) + " dimensions, not " + std::to_string(dimensions) +
                     ": are images and labels swapped?",
                 3);
}

}  // namespace

Idx read_idx(const std::filesystem::path& file, int dimensions) {
  Bytes bytes(file);
  require_magic(bytes, dimensions);
  Idx idx;
  for (int i = 0; i < dimensions; ++i) {
    const std::vector<std::uint8_t> extent = bytes.read(4);
    if (extent.size() < 4) bytes.refuse("the file ends within its header");
    idx.extents.push_back(big_endian(extent));
  }
  std::int64_t size = 0;
  try {
    size = checked_product(idx.extents);
  } catch (const std::overflow_error& error) {
    bytes.refuse(std::string("the dimensions are impossible: ") + error.what(), 4);
  }
  require_room(bytes, size);
  idx.values = bytes.read(size);
  if (static_cast<std::int64_t>(idx.values.size()) < size)
    bytes.refuse("the file ends, but its header promises " + std::to_string(size) + " values, " +
                 std::to_string(size - static_cast<std::int64_t>(idx.values.size())) + " more");
  if (!bytes.read(1).empty())
    bytes.refuse("the file goes on after the last of its " + std::to_string(size) + " values");
  return idx;
}

}  // namespace league::bench
