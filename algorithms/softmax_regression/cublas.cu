// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/cuda_part.hpp"
#include "backends/cuda/cublas.hpp"

// The library multiplies the rows with the weights, and the residuals with the rows; a kernel makes residuals of
// logits.
namespace league::softmax_regression::cuda_model {
namespace {

constexpr int rows_of_block = 128;

// A thread takes a row.
__global__ void __launch_bounds__(rows_of_block)
    softmax(const Descent descent, std::int64_t step, Rows rows, const std::int32_t* labels, float* z, double* losses) {
  __shared__ double scratch[rows_of_block];
  const int thread = threadIdx.x;
  double loss = blockIdx.x == 0 ? descent.penalty(step, thread, rows_of_block) : 0;
  if (blockIdx.x == 0 && thread == 0) *descent.current = step;
  const std::int64_t row = std::int64_t{blockIdx.x} * rows_of_block + thread;
  if (row < rows.last - rows.first)
    loss += softmax_row(z + row * descent.classes, descent.classes, labels[rows.first + row], InOrder{});
  store_loss(loss, losses, scratch);
}

class Cublas final : public CudaPart<float> {
 public:
  Cublas(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : CudaPart(problem, context, shard), handle_(cuda::cublas_handle(context.runtime, queue())) {
    blocks_ = league_of(ceil_div<std::int64_t>(most_rows(), rows_of_block));
    require_memory(bytes_ + most_rows() * problem.classes * 4 + blocks_ * 8, budget_bytes_);
    const auto make = maker();
    make_weights(static_cast<int>(problem.pitch), make);
    make("softmax/logits", logits_, most_rows() * problem.classes);
    make("softmax/gradient", gradient_, problem.classes * problem.pitch);
    make("softmax/losses", losses_, blocks_);
  }
  void bind(Outputs& outputs) override { outputs.at(SoftmaxRegression::theta).form = SoftmaxRegression::product; }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("cuBLAS chooses its own launch");
    return {};
  }
  void begin() override {
    CudaPart::begin();
    step_ = 0;
  }
  void accumulate() override {
    const cudaStream_t stream = cuda::stream(queue());  // makes its device the library's, too
    const Descent descent = this->descent();
    const Rows rows = descent.own_rows(step_);
    const std::int64_t count = rows.last - rows.first;
    const float* x = x_.data() + rows.first * descent.pitch;
    if (count > 0)
      cuda::products_of_rows(handle_, count, descent.classes, descent.pitch, x, weights_.data(), logits_.data());
    softmax<<<blocks_, rows_of_block, 0, stream>>>(descent, step_++, rows, labels_.data(), logits_.data(),
                                                   losses_.data());
    cuda::check_launch();
    const float one = 1, zero = 0;
    if (count > 0)  // row-major [classes x pitch] is column-major [pitch x classes]
      cuda::check_cublas(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_T, descent.pitch, descent.classes,
                                     static_cast<int>(count), &one, x, descent.pitch, logits_.data(), descent.classes,
                                     &zero, gradient_.data(), descent.pitch));
    add_partials(static_cast<const float*>(gradient_.data()), count > 0 ? 1 : 0, blocks_);
  }

 private:
  cublasHandle_t handle_;
  int blocks_;
  std::int64_t step_ = 0;  ///< the library is told where a batch begins
  cuda::Array<float> logits_, gradient_;
};

std::unique_ptr<Prepared> prepare(const SoftmaxRegression& problem, const Context& context) {
  return solve<Cublas>(problem, context, problem.steps, Execution::stepwise);
}

const Register<SoftmaxRegression> registered{"gemm", cuda::library("cublas"), prepare};

}  // namespace
}  // namespace league::softmax_regression::cuda_model
