// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace league::bench {

/// The contents of a binary file of CIFAR-10: records of a label and the red, green and blue plane of an image.
struct Cifar {
  static constexpr std::int64_t side = 32, features = 3 * side * side;
  std::vector<std::uint8_t> labels;  ///< 0 to 9
  std::vector<std::uint8_t> images;  ///< [labels x 3 x 32 x 32]
};

/// Reads such a file, gzipped or plain.
/// @throws BadInput naming the file and the offset (in the unpacked data) of what is wrong
Cifar read_cifar(const std::filesystem::path& file);

/// Images [rows x 28 x 28] of one colour as images of the same shape as CIFAR's: two pixels of 0 around them, all three
/// planes alike.
std::vector<std::uint8_t> as_colour(const std::vector<std::uint8_t>& images);

}  // namespace league::bench
