// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosBlas2_gemv.hpp>

#include "algorithms/logistic_regression/kokkos_unfused.hpp"

// Kokkos Kernels' own product (no TPL) multiplies: X theta, and X^T (p - y); what is between is `unfused`'s.
namespace league::kokkos::logistic_regression {
namespace {

template <class T>
using Columns = Kokkos::View<T**, Kokkos::LayoutLeft, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T>
using Values = Kokkos::View<T*, Kokkos::LayoutLeft, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T>
void weights_of(const Exec& exec, Launch launch, int features, State state, T* weights) {
  const int threads = launch.team;
  Kokkos::parallel_for(
      "logistic_regression/weights", bounded_policy(exec, launch, 0), KOKKOS_LAMBDA(const Member& member) {
        const auto team = team_lanes(member, threads);
        for (int d = team.lane; d < features; d += team.count) weights[d] = static_cast<T>(state.theta[d + 1]);
      });
}

template <class T>
class Kernels final : public UnfusedPart<T> {
 public:
  Kernels(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : UnfusedPart<T>(problem, context, shard),
        weights_(this->exec_, "logistic_regression/weights", problem.features),
        gradient_(this->exec_, "logistic_regression/gradient", problem.features) {}
  void bind(Outputs& outputs) override { outputs.at(LogisticRegression::theta).form = LogisticRegression::library; }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("Kokkos Kernels chooses its own launch");
    this->choose({});
    return {};
  }
  void accumulate() override {
    const auto count = static_cast<std::size_t>(this->rows().size()), d = static_cast<std::size_t>(this->features_);
    const Columns<const T> padded(this->columns_.data(), static_cast<std::size_t>(this->pitch_), d);
    const auto columns = Kokkos::subview(padded, std::pair(std::size_t{0}, count), Kokkos::ALL);
    const Values<T> excess(this->excess_.data(), count), weights(weights_.data(), d), gradient(gradient_.data(), d);
    weights_of(this->exec_, this->small(), this->features_, this->state(), weights_.data());
    if (count > 0) KokkosBlas::gemv(this->exec_, "N", T{1}, columns, weights, T{0}, excess);
    this->terms(true);
    if (count > 0)
      KokkosBlas::gemv(this->exec_, "T", T{1}, columns, excess, T{0}, gradient);
    else
      Kokkos::deep_copy(this->exec_, gradient, T{0});
    this->finish(gradient_.data());
  }

 private:
  Array<T> weights_, gradient_;
};

std::unique_ptr<Prepared> prepare(const LogisticRegression& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return solve<Kernels<T>>(problem, context, problem.steps, Execution::stepwise);
  });
}

const Register<LogisticRegression> unfused{"unfused", kokkos::library("kokkos_kernels"), prepare};

}  // namespace
}  // namespace league::kokkos::logistic_regression
