// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <exception>
#include <stdexcept>

/// How a run of `league` ends.
namespace league::bench {

/// A study, an option or a data file that is wrong. The message names file, line and key.
class BadInput : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The user asked to stop; records stay.
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

enum class ExitCode { passed = 0, failed = 1, bad_input = 2, interrupted = 130 };

}  // namespace league::bench
