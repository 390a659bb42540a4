// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/variant_shard.hpp"

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

}  // namespace league
