// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace league::bench {

/// A prepared case that can look for the cause of a wrong result.
class Diagnosed {
 public:
  virtual ~Diagnosed() = default;
  /// What is known of the cause, as "; two runs differ"; empty if nothing is. May compute again.
  /// @pre the wrong results are in the outputs
  virtual std::string diagnosis() = 0;
};

}  // namespace league::bench
