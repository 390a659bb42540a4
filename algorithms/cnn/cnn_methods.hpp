// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "algorithms/contract/only_kokkos.hpp"
#include "algorithms/contract/registry.hpp"

namespace league::cnn {

inline constexpr const char* without_units = "matrix units need kokkos_specialised, cuda or hip; compare routed";

/// A method on matrix units of this type.
inline Method on_units(const std::string& name, const std::string& type, const std::string& backward) {
  return {.name = name,
          .description = "second convolution and dense layers on matrix units in " + type +
                         "; backward pass of the convolutions " + backward,
          .dtypes = {Dtype::f32},
          .executions = recordable,
          .not_expressible = {{"serial", without_units}, {"openmp", without_units}, {"kokkos", without_units}},
          .units = {{Dtype::f32, type + " tensor"}}};
}

inline std::vector<Method> methods() {
  return {{.name = "direct",
           .description = "loop nests in registers and scratch; backward pass over all positions",
           .dtypes = {Dtype::f32},
           .executions = recordable},
          {.name = "routed",
           .description = "direct, but backward only through pool windows with a gradient",
           .dtypes = {Dtype::f32},
           .executions = recordable},
          {.name = "flat",
           .description = "a loop per value of each layer, mapped by Kokkos; backward pass over all positions",
           .dtypes = {Dtype::f32},
           .not_expressible = only_kokkos("a policy of Kokkos; compare direct")},
          on_units("tensor_tf32", "tf32", "routed; of cifar10 all convolutions on units"),
          on_units("tensor_bf16", "bf16", "routed; of cifar10 all convolutions on units"),
          on_units("tensor_dense_tf32", "tf32", "on units, over all positions"),
          on_units("tensor_dense_bf16", "bf16", "on units, over all positions"),
          {.name = "gemm",
           .description = "convolutions as products of matrices (im2col), by a library",
           .dtypes = {Dtype::f32},
           .executions = recordable,
           .libraries = {"cublas", "rocblas", "kokkos_kernels"},
           .own_models = false},
          {.name = "layers",
           .description = "one library call for each layer, small kernels between",
           .dtypes = {Dtype::f32},
           .executions = recordable,
           .libraries = {"cudnn", "onednn"},
           .own_models = false},
          {.name = "layers_tf32",
           .description = "layers, factors of all products in tf32",
           .dtypes = {Dtype::f32},
           .executions = recordable,
           .libraries = {"cudnn"},
           .own_models = false,
           .units = {{Dtype::f32, "tf32 tensor"}}},
          {.name = "layers_bf16",
           .description = "layers, planes and factors of all products in bf16, sums in f32",
           .dtypes = {Dtype::f32},
           .executions = recordable,
           .libraries = {"cudnn"},
           .own_models = false,
           .units = {{Dtype::f32, "bf16 tensor"}}}};
}

}  // namespace league::cnn
