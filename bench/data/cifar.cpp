// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/cifar.hpp"

#include <algorithm>
#include <string>

#include "bench/data/bytes.hpp"

namespace league::bench {

Cifar read_cifar(const std::filesystem::path& file) {
  constexpr std::int64_t record = 1 + Cifar::features;
  constexpr int classes = 10;
  Bytes bytes(file);
  Cifar read;
  for (std::int64_t offset = 0;; offset += record) {
    const std::vector<std::uint8_t> one = bytes.read(record);
    if (one.empty()) break;
    if (static_cast<std::int64_t>(one.size()) < record)
      bytes.refuse("the file ends within a record of " + std::to_string(record) + " bytes");
    if (one[0] >= classes)
      bytes.refuse("a label is " + std::to_string(one[0]) + ", not 0 to 9: is this CIFAR-10's binary version?", offset);
    read.labels.push_back(one[0]);
    read.images.insert(read.images.end(), one.begin() + 1, one.end());
  }
  if (read.labels.empty()) bytes.refuse("holds no images");
  return read;
}

std::vector<std::uint8_t> as_colour(const std::vector<std::uint8_t>& images) {
  constexpr std::int64_t from = 28, to = Cifar::side, margin = (to - from) / 2;
  const std::int64_t rows = static_cast<std::int64_t>(images.size()) / (from * from);
  std::vector<std::uint8_t> colour(static_cast<std::size_t>(rows * Cifar::features));
  for (std::int64_t plane = 0; plane < 3 * rows; ++plane)
    for (std::int64_t y = 0; y < from; ++y)
      std::copy_n(images.begin() + (plane / 3 * from + y) * from, from,
                  colour.begin() + (plane * to + y + margin) * to + margin);
  return colour;
}

}  // namespace league::bench
