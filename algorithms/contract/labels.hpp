// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "algorithms/contract/making.hpp"

namespace league {

/// For classifiers: requires one label per row, from 0 to `classes` - 1. `part`: such as "training"; `row`: the name of
/// a row, such as "image".
/// @throws std::invalid_argument naming the first label that is wrong
inline void require_labels(const std::string& part, const std::string& row, const HostArray& labels, std::int64_t rows,
                           int classes) {
  require(labels.rows() == rows, part + " labels: one per " + row);
  const auto values = labels.values<const std::int32_t>();
  const auto wrong = std::ranges::find_if(values, [&](std::int32_t label) { return label < 0 || label >= classes; });
  if (wrong != values.end())
    throw std::invalid_argument(part + " " + row + " " + std::to_string(wrong - values.begin()) + " has the label " +
                                std::to_string(*wrong) + ": from 0 to " + std::to_string(classes - 1));
}

}  // namespace league
