// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosBlas2_gemv.hpp>

#include "algorithms/logistic_regression/unfused/kokkos_specialised.hpp"

// Kokkos Kernels' own product (no TPL) multiplies X theta and X^T (p - y); the kernels between are those of `unfused`.
namespace league::kokkos::logistic_regression {
namespace {

template <class T>
using Columns = Kokkos::View<T**, Kokkos::LayoutLeft, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T>
using Values = Kokkos::View<T*, Kokkos::LayoutLeft, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T>
struct Weights {
  int features;
  State state;
  T* weights;
  int threads;
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const auto team = team_group(member, threads);
    for (int d = team.rank; d < features; d += team.size) weights[d] = static_cast<T>(state.theta[d + 1]);
  }
};

template <class T>
class Kernels final : public IterativeShard {
 public:
  Kernels(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), exec_(instance(context.runtime, queue())), memory_(*this, problem) {
    declare(weights_, "logistic_regression/weights", problem.features);
    declare(gradient_, "logistic_regression/gradient", problem.features);
    result(LogisticRegression::theta).form = LogisticRegression::library;
  }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("Kokkos Kernels chooses its own launch");
    memory_.choose({});
    return {};
  }
  void begin() const override { begin_solve(exec_, memory_.rows); }
  void accumulate() const override {
    const SolveMemory<Array, T>& all = memory_.rows;
    const auto count = static_cast<std::size_t>(rows().size()), d = static_cast<std::size_t>(all.features);
    const Columns<const T> padded(all.columns.data(), static_cast<std::size_t>(all.pitch), d);
    const auto columns = Kokkos::subview(padded, std::pair(std::size_t{0}, count), Kokkos::ALL);
    const Values<T> residual(memory_.residual.data(), count), weights(weights_.data(), d),
        gradient(gradient_.data(), d);
    const Launch one = small();
    submit(queue(), "logistic_regression/weights", bounded_policy(exec_, one, 0),
           Weights<T>{all.features, all.state(), weights_.data(), one.team});
    queue().submit([=, exec = exec_] {
      if (count > 0) KokkosBlas::gemv(exec, "N", T{1}, columns, weights, T{0}, residual);
    });
    put_terms(exec_, memory_, true);
    queue().submit([=, exec = exec_] {
      if (count > 0)
        KokkosBlas::gemv(exec, "T", T{1}, columns, residual, T{0}, gradient);
      else
        Kokkos::deep_copy(exec, gradient, T{0});
    });
    finish<T>(exec_, memory_, gradient_.data());
  }
  [[nodiscard]] Buffer sums() const override { return memory_.rows.buffer(); }
  void update() const override { descend_alone(exec_, memory_.rows); }

 private:
  Exec exec_;
  UnfusedMemory<T> memory_;
  Array<T> weights_, gradient_;
};

const RegisterSolve<LogisticRegression> unfused{
    "unfused", kokkos::library("kokkos_kernels"), by_type<Kernels>, {Execution::stream}};

}  // namespace
}  // namespace league::kokkos::logistic_regression
