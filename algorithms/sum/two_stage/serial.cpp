// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/sum/common/lanes.hpp"
#include "algorithms/sum/common/shards.hpp"
#include "backends/host_pass.hpp"

// One thread takes all chunks, one after another, then their sums.
namespace league::serial::sum {
namespace {

using namespace league::sum;

template <class T>
void two_stage(const Pass&, const Work<T>& work) {
  for (std::int64_t chunk = 0; chunk < work.chunks.count; ++chunk)
    work.sums[chunk] = host_lane_sum(work.x + chunk * work.chunks.chunk, work.chunks.size_of(chunk));
}

template <class T>
void finish(const Pass&, int count, const Total<T>* partials, Total<T>* sum, const Work<T>&) {
  *sum = host_lane_sum(partials, count);
}

Launch configure(Queue& queue, Launch launch, Chunks) { return Pass::resolve(queue, launch, {}, 0); }

const RegisterSum two_stage_variant{"two_stage", model, []<class T>(Of<T>) {
                                      return Kernels<Pass, T>{Partials::a_chunk, configure, two_stage<T>, finish<T>};
                                    }};

}  // namespace
}  // namespace league::serial::sum
