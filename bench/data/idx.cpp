// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/idx.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <new>
#include <string>

#include "algorithms/contract/budget.hpp"
#include "backends/array.hpp"
#include "bench/errors.hpp"
#include "bench/measure/memory_limit.hpp"

namespace league::bench {
namespace {

constexpr std::uint8_t unsigned_byte = 0x08;

/// The bytes of a file, unpacked where they are gzipped. (zlib's gzread would do, but drops what a failing call has
/// unpacked: where the data end is not known then.)
class Bytes {
 public:
  explicit Bytes(const std::filesystem::path& file) : name_(file.string()), file_(file, std::ios::binary) {
    if (!file_) throw BadInput("cannot open '" + name_ + "'");
    is_packed_ = begins_packed();
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (is_packed_ && inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~Bytes() {
    if (is_packed_) inflateEnd(&stream_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  /// As many of `count` bytes as there are. @throws BadInput if they are not what was packed
  std::vector<std::uint8_t> read(std::int64_t count) {
    constexpr std::int64_t block = 1 << 20;  // memory is touched for what is there, not for what a wrong header claims
    std::vector<std::uint8_t> bytes;
    bytes.reserve(static_cast<std::size_t>(count));
    while (count > 0) {
      const auto wanted = static_cast<std::size_t>(std::min(count, block)), before = bytes.size();
      bytes.resize(before + wanted);
      const std::size_t got = is_packed_ ? unpack(bytes.data() + before, wanted) : load(bytes.data() + before, wanted);
      if (!is_packed_) offset_ += static_cast<std::int64_t>(got);
      bytes.resize(before + got);
      if (got < wanted) break;
      count -= static_cast<std::int64_t>(got);
    }
    return bytes;
  }
  [[noreturn]] void refuse(const std::string& what) const { refuse(what, offset_); }
  [[noreturn]] void refuse(const std::string& what, std::int64_t offset) const {
    throw BadInput(name_ + ": at byte " + std::to_string(offset) + ": " + what);
  }

 private:
  /// Bytes of the file as they are.
  std::size_t load(std::uint8_t* to, std::size_t count) {
    file_.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count));
    if (file_.bad()) refuse("the file cannot be read");
    return static_cast<std::size_t>(file_.gcount());
  }
  std::size_t unpack(std::uint8_t* to, std::size_t count) {
    stream_.next_out = to;
    stream_.avail_out = static_cast<unsigned>(count);
    while (stream_.avail_out > 0 && !at_end_) {
      if (stream_.avail_in == 0) fill();
      const unsigned before = stream_.avail_out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      offset_ += before - stream_.avail_out;
      if (status == Z_STREAM_END)
        next_member();
      else if (status != Z_OK)
        refuse("the gzip data are damaged or cut short (" +
               std::string(status == Z_BUF_ERROR    ? "they end too early"
                           : stream_.msg != nullptr ? stream_.msg
                                                    : zError(status)) +
               ")");
    }
    return count - stream_.avail_out;
  }
  void fill() {
    stream_.next_in = packed_.data();
    stream_.avail_in = static_cast<unsigned>(load(packed_.data(), packed_.size()));
  }
  /// A file may be several gzip files behind each other; what else follows is no data, as gzip has it.
  void next_member() {
    if (stream_.avail_in == 0) fill();
    at_end_ = stream_.avail_in == 0 || *stream_.next_in != gzip_magic[0];
    if (!at_end_) inflateReset(&stream_);
  }
  bool begins_packed() {
    std::array<std::uint8_t, 2> first{};
    const bool packed = load(first.data(), first.size()) == first.size() && first == gzip_magic;
    file_.clear();
    file_.seekg(0);
    return packed;
  }

  static constexpr std::array<std::uint8_t, 2> gzip_magic{0x1f, 0x8b};
  std::string name_;
  std::ifstream file_;
  std::int64_t offset_ = 0;  ///< in the unpacked data
  bool is_packed_ = false, at_end_ = false;
  z_stream stream_{};
  std::vector<std::uint8_t> packed_ = std::vector<std::uint8_t>(1 << 18);
};

/// Images are read, then copied into the dataset. @throws BadInput where there is no memory for both
void require_room(const Bytes& bytes, std::int64_t size) {
  const std::int64_t spare = spare_memory_bytes();
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
