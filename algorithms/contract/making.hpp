// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "backends/array.hpp"

/// The arguments of a problem.
namespace league {

/// Values of all parameters of one case.
struct Parameters {
  std::map<std::string, std::string, std::less<>> values;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] const std::string& choice(std::string_view name) const;
};

/// Labelled rows, split into training and test: u8 or f32 features [rows x columns], i32 labels [rows].
struct Dataset {
  HostArray train, train_labels, test, test_labels;
  int classes = 0;
};

/// The arguments of a problem.
struct Making {
  Parameters parameters;
  Dtype dtype;
  std::uint64_t seed;
  const Dataset* dataset;  ///< null unless the algorithm `needs_dataset`
  std::string problem;     ///< `Method::problem` of the methods that will be compared on it
  int shards = 1;          ///< of all processes, for algorithms `between_shards`; others accept any number
};
/// Checks an argument. @throws std::invalid_argument with `message` unless `condition`
void require(bool condition, const std::string& message);

}  // namespace league
