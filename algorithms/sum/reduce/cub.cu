// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <primitives_dialect.hpp>

#include "algorithms/sum/common/shards.hpp"
#include "backends/cuda/pass.hpp"

// The library's reduction: it chooses the mapping, and adds in the type of the sum. The sums of several devices are
// also reduced by it.
namespace league::cuda::sum {
namespace {

using namespace league::sum;

template <class T, class V>
void reduce(const Pass& on, const V* values, Total<V>* sum, std::int64_t count, const Work<T>& work) {
  std::size_t bytes = work.temporary_bytes;
  check(sum_of(work.temporary, bytes, values, sum, count, on.stream));
}

template <class T>
void accumulate(const Pass& on, const Work<T>& work) {
  reduce(on, work.x, work.sums, work.chunks.size, work);
}

template <class T>
void finish(const Pass& on, int count, const Total<T>* partials, Total<T>* sum, const Work<T>& work) {
  reduce(on, partials, sum, count, work);
}

template <class T>
std::size_t temporary_bytes(std::int64_t elements, std::int64_t partials) {
  std::size_t first = 0, second = 0;
  const T* x = nullptr;
  Total<T>* sums = nullptr;
  check(sum_of(nullptr, first, x, sums, elements));
  check(sum_of(nullptr, second, static_cast<const Total<T>*>(sums), sums, partials));
  return std::max(first, second);
}

Launch configure(Queue&, Launch launch, Chunks) {
  if (launch != Launch{}) throw Unsupported(std::string(primitives) + " chooses its own launch");
  return {};
}

const RegisterSum variant{"reduce", library(primitives), []<class T>(Of<T>) {
                            return Kernels<Pass, T>{.kind = Partials::a_shard,
                                                    .configure = configure,
                                                    .accumulate = accumulate<T>,
                                                    .finish = finish<T>,
                                                    .form = Sum::any_order,
                                                    .temporary_bytes = temporary_bytes<T>};
                          }};

}  // namespace
}  // namespace league::cuda::sum
