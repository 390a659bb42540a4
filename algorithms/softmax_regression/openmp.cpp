// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/softmax_regression/host_part.hpp"
#include "algorithms/softmax_regression/host_tiles.hpp"

// A thread takes every threads-th tile of rows, with a gradient of its own; then a range of columns of all gradients.
namespace league::softmax_regression {
namespace {

template <class T>
class OpenMp final : public HostPart<T> {
 public:
  using HostPart<T>::HostPart;
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(this->queue(), launch);
    this->make_partials(threads_);
    return {threads_, 1, 1};
  }
  void accumulate() override {
    const Descent descent = this->descent();
    const std::int64_t step = *descent.current = *descent.taken;
    const Rows rows = descent.own_rows(step);
    const int columns = descent.columns(), pitch = this->partial_pitch();
    double* partials = this->partials_.data();
#pragma omp parallel num_threads(threads_)
    {
#pragma omp for schedule(static, 1)
      for (int thread = 0; thread < threads_; ++thread) {
        double* mine = partials + std::int64_t{thread} * pitch;
        std::fill_n(mine, pitch, 0.0);
        double loss = descent.penalty(step, thread, threads_);
        for (std::int64_t row = rows.first + std::int64_t{thread} * host_tile_rows; row < rows.last;
             row += std::int64_t{threads_} * host_tile_rows)
          loss += take_tile(descent, this->x_.data() + row * descent.pitch, this->labels_.data() + row,
                            static_cast<int>(std::min<std::int64_t>(host_tile_rows, rows.last - row)), mine);
        mine[pitch - 1] = loss;
      }
#pragma omp for schedule(static)
      for (int column = 0; column < columns; ++column) this->add_column(column);
    }
  }

 private:
  int threads_ = 1;
};

std::unique_ptr<Prepared> prepare(const SoftmaxRegression& problem, const Context& context) {
  return with_type<float, std::uint8_t>(
      problem.dtype, [&]<class T>() { return solve<OpenMp<T>>(problem, context, problem.steps, Execution::stepwise); });
}

const Register<SoftmaxRegression> fused{"fused", openmp::model, prepare};

}  // namespace
}  // namespace league::softmax_regression
