// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace league::bench {

/// From here on an allocation of more host memory than the machine has to spare fails, so that its case is skipped.
/// Without a limit it would succeed, and the system would kill the process when the memory is touched.
void limit_memory();

}  // namespace league::bench
