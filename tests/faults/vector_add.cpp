// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <limits>

#include "tests/faults/faults.hpp"

namespace league::faults {
namespace {

/// Calls `body` with the values of an array of floating-point numbers.
template <class Body>
void with_values(HostArray& array, const Body& body) {
  if (array.dtype() == Dtype::f64)
    body(array.values<double>());
  else
    body(array.values<float>());
}

/// Moves one sum away from the exact one by twice its bound, which is half an epsilon of the magnitudes of its terms.
template <class T>
void move_one(std::span<T> sums, std::span<const T> a, std::span<const T> b) {
  const std::size_t middle = sums.size() / 2;
  const double exact = static_cast<double>(a[middle]) + static_cast<double>(b[middle]);
  const T twice_the_bound = std::numeric_limits<T>::epsilon() * (std::abs(a[middle]) + std::abs(b[middle]));
  sums[middle] += static_cast<double>(sums[middle]) < exact ? -twice_the_bound : twice_the_bound;
}

std::unique_ptr<Prepared> off_by_twice_the_bound(const Variant& real, const Problem& problem, const Context& context) {
  return edited(real, problem, context, [inputs = problem.inputs()](Outputs& outputs) {
    with_values(outputs.at(0).values, [&]<class T>(std::span<T> sums) {
      move_one<T>(sums, inputs.at(0).values.values<const T>(), inputs.at(1).values.values<const T>());
    });
  });
}

std::unique_ptr<Prepared> not_a_number(const Variant& real, const Problem& problem, const Context& context) {
  return edited(real, problem, context, [](Outputs& outputs) {
    with_values(outputs.at(0).values,
                []<class T>(std::span<T> sums) { sums.back() = std::numeric_limits<T>::quiet_NaN(); });
  });
}

}  // namespace

void plant_in_vector_add() {
  std::vector<Fault> faults = common_faults();
  faults.push_back({"bound", "one value is off by twice its bound", off_by_twice_the_bound});
  faults.push_back({"nan", "one value is not a number", not_a_number});
  plant("vector_add", "plain", faults);
}

}  // namespace league::faults
