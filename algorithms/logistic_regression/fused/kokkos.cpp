// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/common/features.hpp"
#include "algorithms/logistic_regression/common/kokkos_rows.hpp"

namespace league::logistic::kokkos_model {
namespace {

// A lane takes `width` neighbouring rows: a load of 16 bytes on a GPU, a cache line on a host, whose vector registers
// hold as many sums side by side for `depth` packs, before they are added in double.
template <class T>
constexpr Numbers numbers =
    blocks::by_kind({.width = 16 / int{sizeof(T)}, .depth = 1, .sums = 1, .team = 256, .teams = 2},
                    {.width = 64 / int{sizeof(T)}, .depth = 16, .sums = 64 / int{sizeof(T)}, .team = 1});
constexpr int max_lanes = 256;

template <class T>
class Fused final : public Solve<T, numbers<T>.width> {
  using Base = Solve<T, numbers<T>.width>;
  template <int known>
  using Sums = RowSums<known, false, T, numbers<T>.width, numbers<T>.depth, numbers<T>.sums>;

 public:
  using Base::Base;
  Launch configure(Launch launch) override {
    with_features(Base::features(), [&]<int known>() {
      launch_ = Base::template planned<Sums<known>::n>(launch, numbers<T>, max_lanes);
      Base::declare(partials_, "logistic_regression/partials", std::int64_t{launch_.league} * Sums<known>::n);
    });
    Base::declare_zeroed(ticket_, "logistic_regression/ticket", 1);
    return launch_;
  }
  void accumulate() const override {
    with_features(Base::features(), [&]<int known>() {
      add_rows<Sums<known>>(Base::queue(), "logistic_regression/fused",
                            Base::template policy<Sums<known>::n, max_lanes, numbers<T>.teams>(launch_),
                            launch_.team * launch_.vector, Base::all_rows(), Base::state(), partials_.view(),
                            ticket_.view());
    });
  }

 private:
  Launch launch_;
  kokkos::Array<double> partials_;
  kokkos::Array<unsigned> ticket_;
};

const RegisterSolve<LogisticRegression> fused{
    "fused", written_once<float, double>(kokkos::model, []<class T>(Of<T>) { return blocks::named(numbers<T>); }),
    by_type<Fused>};

}  // namespace
}  // namespace league::logistic::kokkos_model
