// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/kokkos_sum.hpp"
#include "algorithms/sum/parts.hpp"

// The kernel of `two_stage` between a copy in and a copy out, on the device's instance. On a host, where both copies
// stay in one memory, this only shows that the orderings are right.
namespace league::kokkos::sum {
namespace {

using league::sum::Ordering, league::sum::TransferArrayPart;

template <class T>
class PortableTransfer final : public TransferArrayPart<Array, T> {
 public:
  PortableTransfer(const Sum& problem, const Context& context, const Shard& shard)
      : TransferArrayPart<Array, T>(problem, context, shard,
                                    [&]<class V>(const char* label, std::int64_t size) {
                                      return Array<V>(instance(context.runtime, context.runtime.queue(shard.device)),
                                                      label, size);
                                    }),
        exec_(instance(context.runtime, this->queue())) {}
  Launch configure(Launch launch) override { return launch_ = sum::configure(launch, this->queue(), this->chunks_); }
  void add() override { two_stage<T>(exec_, launch_, this->chunks_, this->x_.view(), this->partials_.data()); }

 private:
  Exec exec_;
  TeamLaunch launch_;
};

template <Ordering ordering>
std::unique_ptr<Prepared> prepare(const Sum& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(problem.dtype, [&]<class T>() {
    return league::sum::transferred<PortableTransfer<T>>(problem, context, ordering);
  });
}

const Register<Sum> interleaved{"interleaved", kokkos::model, prepare<Ordering::interleaved>};
const Register<Sum> two_phase{"two_phase", kokkos::model, prepare<Ordering::two_phase>};
const Register<Sum> two_phase_sync{"two_phase_sync", kokkos::model, prepare<Ordering::two_phase_sync>};

}  // namespace
}  // namespace league::kokkos::sum
