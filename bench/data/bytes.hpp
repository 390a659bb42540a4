// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <zlib.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace league::bench {

/// The bytes of a file, unpacked where they are gzipped. (Not zlib's gzread: it drops what a failing call has
/// unpacked, and the offset of the error with it.)
class Bytes {
 public:
  /// @throws BadInput if the file cannot be opened
  explicit Bytes(const std::filesystem::path& file);
  ~Bytes();
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  /// Up to `count` bytes; fewer at the end of the file. @throws BadInput if the compressed data are damaged
  std::vector<std::uint8_t> read(std::int64_t count);
  /// @throws BadInput naming the file and the offset in the unpacked data
  [[noreturn]] void refuse(const std::string& what) const { refuse(what, offset_); }
  [[noreturn]] void refuse(const std::string& what, std::int64_t offset) const;

 private:
  std::size_t load(std::uint8_t* to, std::size_t count);
  std::size_t unpack(std::uint8_t* to, std::size_t count);
  void fill();
  void next_member();
  bool begins_with(const std::string& sign);

  static constexpr std::array<std::uint8_t, 2> gzip_magic{0x1f, 0x8b};
  std::string name_;
  std::ifstream file_;
  std::int64_t offset_ = 0;  ///< in the unpacked data
  std::int64_t max_ = 0;     ///< bytes that the file can hold
  bool is_packed_ = false, at_end_ = false;
  z_stream stream_{};
  std::vector<std::uint8_t> packed_ = std::vector<std::uint8_t>(1 << 18);
};

}  // namespace league::bench
