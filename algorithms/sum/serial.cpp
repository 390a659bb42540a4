// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include "algorithms/sum/parts.hpp"
#include "backends/host_array.hpp"

// One thread takes all chunks, one after another, then their sums.
namespace league::serial::sum {
namespace {

using namespace league::sum;

template <class T>
class Serial final : public ArrayPart<host::Array, T> {
 public:
  Serial(const Sum& problem, const Context& context, const Shard& shard)
      : ArrayPart<host::Array, T>(problem, context, shard, Partials::a_chunk,
                                  [&]<class V>(const char*, std::int64_t size) {
                                    return host::Array<V>(context.runtime.queue(shard.device), size);
                                  }) {}
  Launch configure(Launch) override { return {1, 1, 1}; }
  void accumulate() override {
    const Chunks chunks = this->chunks_;
    for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk)
      this->target()[chunk] = host_lane_sum(this->x_.data() + chunk * chunks.chunk, chunks.size_of(chunk));
  }
  void finish() override { this->sum_.data()[0] = host_lane_sum(this->partials_.data(), static_cast<int>(this->all_)); }
};

std::unique_ptr<Prepared> prepare(const Sum& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(problem.dtype,
                                                [&]<class T>() { return gathered<Serial<T>>(problem, context); });
}

const Register<Sum> two_stage{"two_stage", serial::model, prepare};

}  // namespace
}  // namespace league::serial::sum
