// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/host_pass.hpp"

// One thread takes all elements, one after another.
namespace league::serial::vector_add {
namespace {

template <class T>
void fill(const Pass& on, T* index) {
  for (std::int64_t i = 0; i < on.size(); ++i) index[i] = static_cast<T>(on.rows.begin + i);
}

const OneVectorPass filled{"fill", model, {"index"}, []<class T>(Of<T>) { return kernel("fill", fill<T>); }};

}  // namespace
}  // namespace league::serial::vector_add
