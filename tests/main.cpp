// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "tests/runtime.hpp"

namespace {
league::Runtime* the_runtime = nullptr;
}

league::Runtime& league::tests::runtime() { return *the_runtime; }

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  league::Runtime runtime;
  the_runtime = &runtime;
  return RUN_ALL_TESTS();
}
