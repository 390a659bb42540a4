// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <vector>

#include "bench/study/settings.hpp"

namespace league::bench {

/// Draws the problems of tables with the key `shapes`:
/// `sizes = { n = { log_uniform = [1, 100000] } }`, `steps = { log_uniform = [1, 1000] }`, `elements = [1, 1000000]`.
///
/// The shapes depend only on the `seed`, the algorithm and the number of earlier such tables of the algorithm: the
/// first N of `shapes = M` are those of `shapes = N`.
class ShapeDraws {
 public:
  /// The settings of each shape, distributions replaced by numbers; of a table without `shapes`, the table itself. To
  /// be called in the order of the study.
  /// @throws BadInput naming place and key
  std::vector<Settings> draw(const Settings& table);

 private:
  std::map<const Algorithm*, std::uint64_t> tables_;  ///< with shapes, until now
};

}  // namespace league::bench
