// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "tests/runtime.hpp"

namespace {
league::Runtime* the_runtime = nullptr;
}

league::Runtime& league::tests::runtime() { return *the_runtime; }

// Where a launcher has started several ranks, each runs all tests, in the same order.
int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  const std::unique_ptr<league::Ranks> ranks = league::start_ranks(false);
  int failures = 0;
  {
    league::Runtime runtime(*ranks);
    the_runtime = &runtime;
    failures = RUN_ALL_TESTS();
  }
  ranks->finish();
  return failures;
}
