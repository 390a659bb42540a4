// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/shard_part.hpp"

#include <cstring>

namespace league {

void ShardPart::reset() {
  for (const auto& poison : poisons_) poison();
}
void ShardPart::upload() {
  for (const auto& upload : uploads_) upload();
}
void ShardPart::download(const Outputs& outputs) {
  for (const auto& download : downloads_) download(outputs);
}

void poison(const Outputs& outputs) {
  for (const Output& output : outputs)
    if (!output.values.bytes().empty()) std::memset(output.values.bytes().data(), 0xff, output.values.bytes().size());
}

}  // namespace league
