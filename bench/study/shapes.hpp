// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <vector>

#include "bench/study/settings.hpp"

namespace league::bench {

/// Draws the problems of tables that say how many `shapes` they want:
/// `sizes = { n = { log_uniform = [1, 100000] } }`, `steps = { log_uniform = [1, 1000] }`, `elements = [1, 1000000]`.
///
/// The shapes depend on the `seed`, the algorithm and the number of such tables of it before, on nothing else: the
/// first N of `shapes = M` are those of `shapes = N`.
class ShapeDraws {
 public:
  /// The settings of each shape, with the numbers that were drawn in their places; of a table without `shapes`, the
  /// table itself. Tables come in the order of the study.
  /// @throws BadInput naming place and key
  std::vector<Settings> draw(const Settings& table);

 private:
  std::map<const Algorithm*, std::uint64_t> tables_;  ///< with shapes, until now
};

}  // namespace league::bench
