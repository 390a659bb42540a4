// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/contract/prepared.hpp"

namespace league::bench {

/// A copy of outputs that passed the oracle: bitwise comparison replaces a second check.
class Verified {
 public:
  /// Copies the outputs, with all threads of the host; if there is no memory for it, does nothing.
  void keep(const Outputs& outputs, const Verdict& verdict);
  /// The verdict on what was kept, if the outputs equal it; null otherwise. Bits are compared, so that NaNs are equal
  /// too.
  [[nodiscard]] const Verdict* find(const Outputs& outputs) const;
  [[nodiscard]] bool empty() const { return outputs_.empty(); }

 private:
  Outputs outputs_;
  Verdict verdict_;
};

}  // namespace league::bench
