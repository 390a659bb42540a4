// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/sum/parts.hpp"
#include "backends/host_array.hpp"

// A thread takes one block of consecutive chunks; one thread adds their sums, or each its own to the common one.
namespace league::openmp::sum {
namespace {

using namespace league::sum;

template <class T>
void add_chunks(int threads, Chunks chunks, const T* x, Total<T>* partials) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk)
    partials[chunk] = host_lane_sum(x + chunk * chunks.chunk, chunks.size_of(chunk));
}

template <class T>
void add_atomically(int threads, Chunks chunks, const T* x, Total<T>* sum) {
  *sum = 0;
#pragma omp parallel num_threads(threads)
  {
    Total<T> mine = 0;
#pragma omp for schedule(static) nowait
    for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk)
      mine += host_lane_sum(x + chunk * chunks.chunk, chunks.size_of(chunk));
#pragma omp atomic
    *sum += mine;
  }
}

template <class T, Partials kind>
class OpenMp final : public ArrayPart<host::Array, T> {
 public:
  OpenMp(const Sum& problem, const Context& context, const Shard& shard)
      : ArrayPart<host::Array, T>(problem, context, shard, kind, [&]<class V>(const char*, std::int64_t size) {
          return host::Array<V>(context.runtime.queue(shard.device), size);
        }) {}
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(this->queue(), launch);
    return {threads_, 1, 1};
  }
  void accumulate() override {
    if constexpr (kind == Partials::a_chunk)
      add_chunks<T>(threads_, this->chunks_, this->x_.data(), this->target());
    else
      add_atomically<T>(threads_, this->chunks_, this->x_.data(), this->target());
  }
  void finish() override { this->sum_.data()[0] = host_lane_sum(this->partials_.data(), static_cast<int>(this->all_)); }

 private:
  int threads_ = 1;
};

template <Partials kind>
std::unique_ptr<Prepared> prepare(const Sum& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(problem.dtype,
                                                [&]<class T>() { return gathered<OpenMp<T, kind>>(problem, context); });
}

const Register<Sum> two_stage{"two_stage", openmp::model, prepare<Partials::a_chunk>};
const Register<Sum> atomic{"atomic", openmp::model, prepare<Partials::a_shard>};

}  // namespace
}  // namespace league::openmp::sum
