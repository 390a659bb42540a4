// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/linear_regression/host/host.hpp"

// One thread takes all rows, a vector of them at a time.
namespace league::serial::linear_regression {
namespace {

using namespace league::linear_regression;

template <class T, int width>
class Fused final : public HostShard {
 public:
  Fused(const LinearRegression& problem, const Context& context, const Shard& shard)
      : HostShard(problem, context, shard, width), rows_(*this, problem) {}
  Launch configure(Launch) override { return {1, 1, 1}; }
  void accumulate() const override {
    queue().submit([data = rows_.here(), theta = theta_.data(), sums = sums_.data()] {
      const Line<T, width> line = line_of<T, width>(theta, data.features);
      std::ranges::copy(range_sums(data, line, {0, data.rows}).values, sums);
    });
  }

 private:
  HostRows<T> rows_;
};

/// The pass over the rows of a method `Finish`.
template <class T, class Finish>
class GramPass final : public Finish {
 public:
  GramPass(const LinearRegression& problem, const Context& context, const Shard& shard)
      : Finish(problem, context, shard), rows_(*this, problem) {}
  Launch configure(Launch) override { return {1, 1, 1}; }
  void accumulate() const override {
    this->queue().submit([data = rows_.here(), sums = this->sums_.data()] {
      const Gram gram(data.features);
      std::fill_n(sums, gram.sums(), 0.0);
      range_products(data, gram, {0, data.rows}, sums);
    });
  }

 private:
  HostRows<T> rows_;
};
template <class T>
using NormalEquations = GramPass<T, HostDirect>;
template <class T, int>
using Moments = GramPass<T, HostMoments>;

const RegisterSolve<LinearRegression> fused{"fused", model, by_width<Fused>, {Execution::stream}};
const RegisterWholeSolve<LinearRegression> normal_equations{"normal_equations", model, by_type<NormalEquations>};
const RegisterWholeSolve<LinearRegression> moments{"moments", model, by_moment_width<Moments>};

}  // namespace
}  // namespace league::serial::linear_regression
