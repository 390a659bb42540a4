// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/bytes.hpp"

#include <algorithm>
#include <new>

#include "bench/errors.hpp"

namespace league::bench {

Bytes::Bytes(const std::filesystem::path& file) : name_(file.string()), file_(file, std::ios::binary) {
  if (!file_) throw BadInput("cannot open '" + name_ + "'");
  if (begins_with("version https://git-lfs"))
    refuse("a pointer of Git LFS in the place of the file: fetch it (git lfs pull)");
  is_packed_ = begins_with({gzip_magic.begin(), gzip_magic.end()});
  constexpr std::int64_t max_ratio = 1032;  // of deflate: bytes out of one byte
  max_ = static_cast<std::int64_t>(std::filesystem::file_size(file)) * (is_packed_ ? max_ratio : 1);
  constexpr int gzip_only = 16 + MAX_WBITS;
  if (is_packed_ && inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc();
}

Bytes::~Bytes() {
  if (is_packed_) inflateEnd(&stream_);
}

std::vector<std::uint8_t> Bytes::read(std::int64_t count) {
  constexpr std::int64_t block = 1 << 20;  // read in blocks: a wrong header may claim any size
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(std::min(count, max_)));
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

void Bytes::refuse(const std::string& what, std::int64_t offset) const {
  throw BadInput(name_ + ": at byte " + std::to_string(offset) + ": " + what);
}

/// Bytes of the file, not unpacked.
std::size_t Bytes::load(std::uint8_t* to, std::size_t count) {
  file_.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count));
  if (file_.bad()) refuse("the file cannot be read");
  return static_cast<std::size_t>(file_.gcount());
}

std::size_t Bytes::unpack(std::uint8_t* to, std::size_t count) {
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

void Bytes::fill() {
  stream_.next_in = packed_.data();
  stream_.avail_in = static_cast<unsigned>(load(packed_.data(), packed_.size()));
}

/// A gzip file may have several members; trailing garbage is ignored, as gzip does.
void Bytes::next_member() {
  if (stream_.avail_in == 0) fill();
  at_end_ = stream_.avail_in == 0 || *stream_.next_in != gzip_magic[0];
  if (!at_end_) inflateReset(&stream_);
}

bool Bytes::begins_with(const std::string& sign) {
  std::string first(sign.size(), '\0');
  file_.read(first.data(), static_cast<std::streamsize>(first.size()));
  file_.clear();
  file_.seekg(0);
  return first == sign;
}

}  // namespace league::bench
