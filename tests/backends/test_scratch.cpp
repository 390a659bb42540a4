// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "backends/launch.hpp"

namespace league {
namespace {

TEST(Scratch, ThatATeamHasNotIsRefusedWithTheNumbers) {
  EXPECT_NO_THROW(require_scratch(0, 0, "team size 8"));
  EXPECT_NO_THROW(require_scratch(49152, 49152, "team size 8"));
  try {
    require_scratch(49153, 49152, "team size 8");
    FAIL() << "more than there is";
  } catch (const Unsupported& refused) {
    EXPECT_STREQ(refused.what(), "team size 8: needs 49153 bytes of scratch memory, a team has 49152");
  }
}

}  // namespace
}  // namespace league
