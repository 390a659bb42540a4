// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "algorithms/cnn/cnn.hpp"
#include "algorithms/cnn/cnn_oracle.hpp"

namespace league::cnn {

/// The images of step `step`.
[[nodiscard]] Batch batch_of(const Cnn& problem, std::int64_t step, const Arithmetic& arithmetic);

/// The first steps of a training in double, from the initial weights: at most two, without the training's last.
struct FirstSteps {
  std::vector<double> losses, loss_bounds;  ///< of each; bounds for the weights in double
  std::vector<double> weights;              ///< after them
};

/// First steps by arithmetic, computed once for all variants that share it.
class Start {
 public:
  /// Thread-safe.
  [[nodiscard]] const FirstSteps& of(const Cnn& problem, const Arithmetic& arithmetic);

 private:
  std::mutex mutex_;
  std::map<std::tuple<Arithmetic::Rounded, double, double>, FirstSteps> known_;
};

}  // namespace league::cnn
