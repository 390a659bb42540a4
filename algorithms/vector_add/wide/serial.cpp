// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/common/packs.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/host_pass.hpp"

// One thread takes all elements, one after another.
namespace league::serial::vector_add {
namespace {

template <class T>
void add(const Pass& on, const T* a, const T* b, T* sum) {
  const std::int64_t packs = on.size() / Pack<T>::size;
  const auto* packs_a = reinterpret_cast<const Pack<T>*>(a);
  const auto* packs_b = reinterpret_cast<const Pack<T>*>(b);
  auto* packs_sum = reinterpret_cast<Pack<T>*>(sum);
  for (std::int64_t i = 0; i < packs; ++i) packs_sum[i] = packs_a[i] + packs_b[i];
  for (std::int64_t i = packs * Pack<T>::size; i < on.size(); ++i) sum[i] = a[i] + b[i];
}

const OneVectorPass wide{"wide", model, {"a", "b", "sum"}, []<class T>(Of<T>) { return kernel("add", add<T>); }};

}  // namespace
}  // namespace league::serial::vector_add
