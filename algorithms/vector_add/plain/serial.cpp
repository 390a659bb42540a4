// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/host_pass.hpp"

// One thread takes all elements, one after another.
namespace league::serial::vector_add {
namespace {

template <class T>
void add(const Pass& on, const T* a, const T* b, T* sum) {
  for (std::int64_t i = 0; i < on.size(); ++i) sum[i] = a[i] + b[i];
}

const OneVectorPass plain{"plain", model, {"a", "b", "sum"}, []<class T>(Of<T>) { return kernel("add", add<T>); }};

}  // namespace
}  // namespace league::serial::vector_add
