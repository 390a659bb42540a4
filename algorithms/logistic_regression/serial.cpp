// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include <algorithm>

#include "algorithms/logistic_regression/host_part.hpp"

// One thread takes all rows, one after another.
namespace league::logistic {
namespace {

template <class T>
T logit(const Rows<T>& rows, std::int64_t row, const T* weights) {
  T z = weights[0];
  for (int d = 0; d < rows.features; ++d) z += weights[d + 1] * rows.columns[d * rows.pitch + row];
  return z;
}

template <class T>
void add_fused(const Rows<T>& rows, const T* weights, double* sums) {
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const RowTerms<T> terms = row_terms(logit(rows, row, weights), static_cast<T>(rows.labels[row]));
    sums[0] += static_cast<double>(terms.loss);
    sums[1] += static_cast<double>(terms.excess);
    for (int d = 0; d < rows.features; ++d)
      sums[d + 2] += static_cast<double>(terms.excess * rows.columns[d * rows.pitch + row]);
  }
}

template <class T>
void add_unfused(const Rows<T>& rows, const T* weights, T* excess, double* sums) {
  for (std::int64_t row = 0; row < rows.count; ++row) excess[row] = logit(rows, row, weights);
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const RowTerms<T> terms = row_terms(excess[row], static_cast<T>(rows.labels[row]));
    excess[row] = terms.excess;
    sums[0] += static_cast<double>(terms.loss);
    sums[1] += static_cast<double>(terms.excess);
  }
  for (int d = 0; d < rows.features; ++d)
    for (std::int64_t row = 0; row < rows.count; ++row)
      sums[d + 2] += static_cast<double>(excess[row] * rows.columns[d * rows.pitch + row]);
}

template <class T>
void add_newton(const Rows<T>& rows, const T* weights, double* sums) {
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const auto x = [&](int j) { return j == 0 ? T{1} : rows.columns[(j - 1) * rows.pitch + row]; };
    const RowTerms<T> terms = row_terms(logit(rows, row, weights), static_cast<T>(rows.labels[row]));
    sums[0] += static_cast<double>(terms.loss);
    double* hessian = sums + gradient_sums(rows.features);
    for (int j = 0; j <= rows.features; ++j) {
      sums[j + 1] += static_cast<double>(terms.excess * x(j));
      const T weighted = terms.weight * x(j);
      for (int k = 0; k <= j; ++k) *hessian++ += static_cast<double>(weighted * x(k));
    }
  }
}

template <class T, Method method>
class Serial final : public HostPart<T, method> {
 public:
  using HostPart<T, method>::HostPart;
  Launch configure(Launch) override { return {1, 1, 1}; }
  void accumulate() override {
    if (this->stopped()) return;
    std::vector<T> weights;
    for (int j = 0; j <= this->features_; ++j) weights.push_back(static_cast<T>(this->theta_.data()[j]));
    const std::span<double> sums = this->sums();
    std::ranges::fill(sums, 0.0);
    if constexpr (method == Method::fused) add_fused(this->all_rows(), weights.data(), sums.data());
    if constexpr (method == Method::unfused)
      add_unfused(this->all_rows(), weights.data(), this->excess_.data(), sums.data());
    if constexpr (method == Method::newton) add_newton(this->all_rows(), weights.data(), sums.data());
  }
};

template <Method method>
std::unique_ptr<Prepared> prepare(const LogisticRegression& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return solve<Serial<T, method>>(problem, context, problem.steps, Execution::stepwise);
  });
}

const Register<LogisticRegression> fused{"fused", serial::model, prepare<Method::fused>};
const Register<LogisticRegression> unfused{"unfused", serial::model, prepare<Method::unfused>};
const Register<LogisticRegression> newton{"newton", serial::model, prepare<Method::newton>};

}  // namespace
}  // namespace league::logistic
