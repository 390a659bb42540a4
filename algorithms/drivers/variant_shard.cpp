// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/variant_shard.hpp"

#include "algorithms/contract/random.hpp"

namespace league {

void VariantShard::reset() {
  for (const auto& poison : poisons_) poison();
}
void VariantShard::upload() {
  for (const auto& upload : uploads_) upload();
}
void VariantShard::download() {
  for (const auto& download : downloads_) download();
}

std::optional<std::uint64_t> VariantShard::digest() {
  if (poisons_.empty() || digests_.size() != downloads_.size()) return {};
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < digests_.size(); ++i)  // results that are exchanged for each other have another sum
    sum += random_bits(digests_[i](), static_cast<std::uint64_t>(index()), i);
  return sum;
}

bool VariantShard::alter(std::uint64_t draw) {
  for (std::size_t i = 0; i < exchanges_.size(); ++i)
    if (input_sizes_[i] > 0) exchanges_[i](altered(draw, i, input_sizes_[i]), false);
  return !exchanges_.empty();
}

void VariantShard::restore(std::uint64_t draw) {
  for (std::size_t i = 0; i < exchanges_.size(); ++i)
    if (input_sizes_[i] > 0) exchanges_[i](altered(draw, i, input_sizes_[i]), true);
}

}  // namespace league
