// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "tests/shared_runtime.hpp"

namespace {
league::Runtime* shared = nullptr;
}

league::Runtime& league::shared_runtime() { return *shared; }

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  league::Runtime runtime;
  shared = &runtime;
  return RUN_ALL_TESTS();
}
