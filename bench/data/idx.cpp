// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/idx.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "backends/array.hpp"
#include "bench/errors.hpp"

namespace league::bench {
namespace {

constexpr std::uint8_t unsigned_byte = 0x08;

/// The bytes of a file, unpacked where they are gzipped.
class Bytes {
 public:
  explicit Bytes(const std::filesystem::path& file)
      : name_(file.string()), file_(gzopen(name_.c_str(), "rb"), gzclose) {
    if (!file_) throw BadInput("cannot open '" + name_ + "'");
    gzbuffer(file_.get(), 1U << 20);
  }
  /// As many of `count` bytes as there are. @throws BadInput if they are not what was packed
  std::vector<std::uint8_t> read(std::int64_t count) {
    constexpr std::int64_t block = 1 << 20;  // grows with what is there, not with what a wrong header claims
    std::vector<std::uint8_t> bytes;
    while (count > 0) {
      const std::int64_t wanted = std::min(count, block);
      const std::size_t before = bytes.size();
      bytes.resize(before + static_cast<std::size_t>(wanted));
      const int got = gzread(file_.get(), bytes.data() + before, static_cast<unsigned>(wanted));
      int status = Z_OK;
      const char* message = gzerror(file_.get(), &status);
      if (got < 0 || (status != Z_OK && status != Z_STREAM_END))
        refuse("the gzip data are damaged or cut short (" + std::string(message) + ")");
      bytes.resize(before + static_cast<std::size_t>(got));
      offset_ += got;
      if (got < wanted) break;
      count -= got;
    }
    return bytes;
  }
  [[noreturn]] void refuse(const std::string& what) const { refuse(what, offset_); }
  [[noreturn]] void refuse(const std::string& what, std::int64_t offset) const {
    throw BadInput(name_ + ": at byte " + std::to_string(offset) + ": " + what);
  }

 private:
  std::string name_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  std::int64_t offset_ = 0;
};

std::int64_t big_endian(const std::vector<std::uint8_t>& bytes) {
  std::int64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

void require_magic(Bytes& bytes, int dimensions) {
  const std::vector<std::uint8_t> magic = bytes.read(4);
  if (magic.size() < 4) bytes.refuse("the file ends within its header");
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
  idx.values = bytes.read(size);
  if (static_cast<std::int64_t>(idx.values.size()) < size)
    bytes.refuse("the file ends, but its header promises " + std::to_string(size) + " values, " +
                 std::to_string(size - static_cast<std::int64_t>(idx.values.size())) + " more");
  if (!bytes.read(1).empty())
    bytes.refuse("the file goes on after the last of its " + std::to_string(size) + " values");
  return idx;
}

}  // namespace league::bench
