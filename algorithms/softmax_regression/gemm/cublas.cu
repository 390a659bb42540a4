// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/common/cuda.hpp"
#include "backends/cuda/cublas.hpp"

// The library multiplies the rows with the weights, and the residuals with the rows; a kernel between turns logits into
// residuals.
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

class Cublas final : public IterativeShard {
 public:
  Cublas(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard),
        handle_(cuda::cublas_handle(context.runtime, queue())),
        memory_(*this, problem),
        products_(memory_, rows_of_block) {
    memory_.declare_weights(problem.pitch);
  }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("cuBLAS chooses its own launch");
    return {};
  }
  void begin() const override {
    clear_state(memory_);
    step_ = 0;
  }
  void accumulate() const override {
    const cudaStream_t stream = cuda::stream(queue());  // also sets the library's device
    const Descent descent = memory_.descent();
    const Rows rows = descent.own_rows(step_);
    const std::int64_t count = rows.last - rows.first;
    const float* x = memory_.x.data() + rows.first * descent.pitch;
    float* logits = products_.logits.data();
    if (count > 0)
      cuda::products_of_rows(handle_, count, descent.classes, descent.pitch, x, memory_.weights.data(), logits);
    softmax<<<products_.teams, rows_of_block, 0, stream>>>(descent, step_++, rows, memory_.labels.data(), logits,
                                                           products_.losses.data());
    cuda::check_launch();
    const float one = 1, zero = 0;
    if (count > 0)  // row-major [classes x pitch] is column-major [pitch x classes]
      cuda::check_cublas(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_T, descent.pitch, descent.classes,
                                     static_cast<int>(count), &one, x, descent.pitch, logits, descent.classes, &zero,
                                     products_.gradient.data(), descent.pitch));
    add_partials(memory_, products_.gradient.data(), count > 0 ? 1 : 0, products_.losses.data(), products_.teams);
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.sums.data(), memory_.sums.size()); }
  void update() const override { take_step(memory_); }

 private:
  cublasHandle_t handle_;
  Memory<float, cuda::Array> memory_;
  Products<cuda::Array> products_;
  mutable std::int64_t step_ = 0;  ///< host counter for the library's arguments: not recordable
};

const RegisterSolve<SoftmaxRegression> registered{
    "gemm", cuda::library(cuda::blas), of_one_type<Cublas>, {Execution::stream}};

}  // namespace
}  // namespace league::softmax_regression::cuda_model
