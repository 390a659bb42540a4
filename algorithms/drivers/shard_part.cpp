// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/shard_part.hpp"

namespace league {

void ShardPart::reset() {
  for (const auto& poison : poisons_) poison();
}
void ShardPart::upload() {
  for (const auto& upload : uploads_) upload();
}
void ShardPart::download() {
  for (const auto& download : downloads_) download();
}

}  // namespace league
