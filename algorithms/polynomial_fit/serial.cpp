// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/polynomial_fit/host_part.hpp"

// One thread takes all points, a vector of them at a time.
namespace league::serial::polynomial_fit {
namespace {

using namespace league::polynomial_fit;

template <class T>
class Stepwise final : public HostPart<T> {
 public:
  using HostPart<T>::HostPart;
  Launch configure(Launch) override { return {1, 1, 1}; }
  void accumulate() override {
    const auto sums = range_sums(this->points(), Cubic<T>::of(this->theta_.data()), {0, this->rows().size()});
    std::ranges::copy(sums.values, this->sums_.data());
  }
};

std::unique_ptr<Prepared> prepare(const PolynomialFit& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return solve<Stepwise<T>>(problem, context, problem.steps, Execution::stepwise);
  });
}

const Register<PolynomialFit> stepwise{"stepwise", serial::model, prepare};

}  // namespace
}  // namespace league::serial::polynomial_fit
