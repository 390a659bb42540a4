// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/linear_regression/host_part.hpp"

// One thread takes all rows, a vector of them at a time.
namespace league::serial::linear_regression {
namespace {

using namespace league::linear_regression;

template <class T, int width>
class Fused final : public HostPart<T> {
 public:
  Fused(const LinearRegression& problem, const Context& context, const Shard& shard)
      : HostPart<T>(problem, context, shard, width) {}
  Launch configure(Launch) override { return {1, 1, 1}; }
  void accumulate() override {
    const Line<T, width> line = line_of<T, width>(this->theta_.data(), this->problem_.features);
    this->leave(range_sums(this->data(), line, {0, this->rows().size()}));
  }
};

template <class T>
class Direct final : public HostDirect<T> {
 public:
  using HostDirect<T>::HostDirect;
  Launch configure(Launch) override { return {1, 1, 1}; }
  void accumulate() override {
    std::fill_n(this->sums_.data(), this->gram_.sums(), 0.0);
    range_products(this->data(), this->gram_, {0, this->rows().size()}, this->sums_.data());
  }
};

std::unique_ptr<Prepared> prepare_fused(const LinearRegression& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return with_width(problem.features, [&]<int width>() {
      return solve<Fused<T, width>>(problem, context, problem.steps, Execution::stepwise);
    });
  });
}
std::unique_ptr<Prepared> prepare_direct(const LinearRegression& problem, const Context& context) {
  return with_type<float, double>(
      problem.dtype, [&]<class T>() { return solve<Direct<T>>(problem, context, 1, Execution::stepwise); });
}

const Register<LinearRegression> fused{"fused", serial::model, prepare_fused};
const Register<LinearRegression> normal_equations{"normal_equations", serial::model, prepare_direct};

}  // namespace
}  // namespace league::serial::linear_regression
