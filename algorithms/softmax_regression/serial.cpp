// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/softmax_regression/host_part.hpp"

// One thread takes one row after another: what plain loops reach.
namespace league::softmax_regression {
namespace {

template <class T>
class Serial final : public HostPart<T> {
 public:
  Serial(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : HostPart<T>(problem, context, shard) {
    this->make_partials(1);
  }
  Launch configure(Launch) override { return {1, 1, 1}; }
  void accumulate() override {
    const Descent descent = this->descent();
    const std::int64_t step = *descent.current = *descent.taken;
    const Rows rows = descent.own_rows(step);
    double* gradient = this->partials_.data();
    std::fill_n(gradient, this->partial_pitch(), 0.0);
    double loss = descent.penalty(step, 0, 1);
    for (std::int64_t row = rows.first; row < rows.last; ++row)
      loss += take_row(descent, this->x_.data() + row * descent.pitch, this->labels_.data()[row], gradient);
    gradient[this->partial_pitch() - 1] = loss;
    for (int column = 0; column < descent.columns(); ++column) this->add_column(column);
  }

 private:
  static double take_row(const Descent& descent, const T* x, std::int32_t label, double* gradient) {
    float z[SoftmaxRegression::most_classes * 2] = {};
    const int pitch = descent.pitch;
    for (int c = 0; c < descent.classes; ++c) z[place_of(c)] = product(pitch, x, descent.weights + c * pitch);
    const double loss = softmax_row(z, descent.classes, label);
    for (int c = 0; c < descent.classes; ++c)
      for (int f = 0; f < pitch; ++f)
        gradient[c * pitch + f] += static_cast<double>(static_cast<float>(x[f]) * z[place_of(c)]);
    return loss;
  }
  static float product(int pitch, const T* x, const float* weights) {
    constexpr int lanes = SoftmaxRegression::pitch_step;  // partial sums: they vectorise
    float partial[lanes] = {};
    for (int f = 0; f < pitch; f += lanes)
      for (int lane = 0; lane < lanes; ++lane) partial[lane] += static_cast<float>(x[f + lane]) * weights[f + lane];
    float sum = 0;
    for (const float part : partial) sum += part;
    return sum;
  }
};

std::unique_ptr<Prepared> prepare(const SoftmaxRegression& problem, const Context& context) {
  return with_type<float, std::uint8_t>(
      problem.dtype, [&]<class T>() { return solve<Serial<T>>(problem, context, problem.steps, Execution::stepwise); });
}

const Register<SoftmaxRegression> fused{"fused", serial::model, prepare};

}  // namespace
}  // namespace league::softmax_regression
