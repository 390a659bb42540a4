// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/npy.hpp"

#include <bit>
#include <string>

#include "bench/files.hpp"

namespace league::bench {
namespace {

static_assert(std::endian::native == std::endian::little, "the types below say so");

std::string descr(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return "<f4";
    case Dtype::f64:
      return "<f8";
    case Dtype::i32:
      return "<i4";
    case Dtype::i64:
      return "<i8";
    case Dtype::u8:
      return "|u1";
    case Dtype::f16:
    case Dtype::bf16:
      break;
  }
  return {};
}

/// Magic, version, length and a dictionary, padded so that the values begin at a multiple of 64 bytes.
/// Source: numpy.lib.format.
std::string header(const HostArray& array) {
  std::string shape;
  for (const std::int64_t extent : array.shape()) shape += std::to_string(extent) + ", ";
  std::string text = "{'descr': '" + descr(array.dtype()) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t before = 10, alignment = 64;
  text.append(alignment - (before + text.size() + 1) % alignment, ' ');
  text += '\n';
  const auto size = static_cast<unsigned>(text.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(size & 0xff) + static_cast<char>(size >> 8) + text;
}

}  // namespace

void write_npy(const std::filesystem::path& file, const HostArray& array) {
  const std::span<const std::byte> values = array.bytes();
  write_whole(file, header(array), {reinterpret_cast<const char*>(values.data()), values.size()});
}

}  // namespace league::bench
