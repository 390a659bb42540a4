// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/cuda_runner.hpp"
#include "algorithms/cnn/im2col_shard.hpp"
#include "algorithms/cnn/layers_shard.hpp"

// `gemm` with the products of cuBLAS.
namespace league::cnn {
namespace {

using Runner = cuda_model::Runner<>;
const RegisterTraining<layers::LayersShard<layers::Im2col<Runner, Mnist>>,
                       layers::LayersShard<layers::Im2col<Runner, Cifar10>>>
    gemm{"gemm", cuda::library(cuda::blas)};

}  // namespace
}  // namespace league::cnn
