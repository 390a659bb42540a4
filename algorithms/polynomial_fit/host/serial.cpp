// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/polynomial_fit/host/host.hpp"

// One thread takes all points, a vector of them at a time.
namespace league::serial::polynomial_fit {
namespace {

using namespace league::polynomial_fit;

template <class T>
class Stepwise final : public HostShard {
 public:
  Stepwise(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : HostShard(problem, context, shard), memory_(*this, problem) {}
  Launch configure(Launch) override { return {1, 1, 1}; }
  void accumulate() const override {
    queue().submit([points = memory_.points(), theta = theta_.data(), sums = sums_.data()] {
      std::ranges::copy(range_sums(points, Cubic<T>::of(theta), {0, points.count}).values, sums);
    });
  }

 private:
  HostPoints<T> memory_;
};

template <class T>
class Moments final : public HostMoments {
 public:
  Moments(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : HostMoments(problem, context, shard), memory_(*this, problem) {}
  Launch configure(Launch) override { return {1, 1, 1}; }
  void accumulate() const override {
    queue().submit([points = memory_.points(), sums = sums_.data()] {
      std::ranges::copy(range_powers(points, {0, points.count}).values, sums);
    });
  }

 private:
  HostPoints<T> memory_;
};

const RegisterSolve<PolynomialFit> stepwise{"stepwise", model, by_type<Stepwise>, {Execution::stream}};
const RegisterWholeSolve<PolynomialFit> moments{"moments", model, by_type<Moments>};

}  // namespace
}  // namespace league::serial::polynomial_fit
