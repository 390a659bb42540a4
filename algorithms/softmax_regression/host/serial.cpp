// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/softmax_regression/host/shard.hpp"

namespace league::softmax_regression {
namespace {

template <class T>
float product(int pitch, const T* x, const float* weights) {
  constexpr int lanes = SoftmaxRegression::pitch_step;  // partial sums: they vectorise
  float partial[lanes] = {};
  for (int f = 0; f < pitch; f += lanes)
    for (int lane = 0; lane < lanes; ++lane) partial[lane] += static_cast<float>(x[f + lane]) * weights[f + lane];
  float sum = 0;
  for (const float part : partial) sum += part;
  return sum;
}

template <class T>
double add_row(const Descent& descent, const T* x, std::int32_t label, double* gradient) {
  float z[SoftmaxRegression::max_classes * 2] = {};
  const int pitch = descent.pitch;
  for (int c = 0; c < descent.classes; ++c) z[place_of(c)] = product(pitch, x, descent.weights + c * pitch);
  const double loss = softmax_row(z, descent.classes, label);
  for (int c = 0; c < descent.classes; ++c)
    for (int f = 0; f < pitch; ++f)
      gradient[c * pitch + f] += static_cast<double>(static_cast<float>(x[f]) * z[place_of(c)]);
  return loss;
}

// One thread takes one row after another, in plain loops.
template <class T>
void add_rows(const HostWork<T>& work) {
  const Descent& descent = work.descent;
  const Rows rows = work.begin();
  double* gradient = work.partials;
  std::fill_n(gradient, work.partial_pitch(), 0.0);
  double loss = descent.penalty(*descent.current, 0, 1);
  for (std::int64_t row = rows.first; row < rows.last; ++row)
    loss += add_row(descent, work.x + row * descent.pitch, work.labels[row], gradient);
  gradient[work.partial_pitch() - 1] = loss;
  for (int column = 0; column < descent.columns(); ++column) work.add_column(column);
}

template <class T>
using Serial = HostShard<T, serial::Pass, add_rows<T>>;

const RegisterSolve<SoftmaxRegression> fused{"fused", serial::model, by_type<Serial>, {Execution::stream}};

}  // namespace
}  // namespace league::softmax_regression
