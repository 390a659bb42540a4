// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/sum/common/shards.hpp"

namespace league::sum {

/// One variant on one shard, from pinned host memory to pinned host memory. All calls only submit work.
class TransferShard : public VariantShard {
 public:
  using VariantShard::VariantShard;
  [[nodiscard]] Timing timing() const override { return {.reset_each = true, .host_clock = true}; }
  virtual void copy_in() = 0;
  virtual void add() = 0;
  virtual void copy_out() = 0;
  /// The copied-out partial sums, one per chunk.
  [[nodiscard]] virtual const HostArray& partials() const = 0;
};

enum class Ordering { interleaved, two_phase, two_phase_sync };

/// The shards' work in one of the three orderings. The host adds the copied-out sums in the untimed download.
std::unique_ptr<Prepared> transferred(const Context& context, Ordering ordering,
                                      const std::function<std::unique_ptr<TransferShard>(const Shard&)>& make);

/// The kernel of `two_stage` between a copy in and a copy out.
template <class K>
class TransferArrayShard final : public TransferShard {
 public:
  using Pass = typename K::Pass;
  using T = typename K::Type;

  TransferArrayShard(const Sum& problem, const Context& context, const Shard& shard, const K& kernels)
      : TransferShard(context, shard),
        kernels_(kernels),
        chunks_(problem.chunks(rows())),
        host_x_(problem.values<T>(rows())),
        host_partials_(context.runtime.host_memory(), dtype_of<Total<T>>, {rows().size()}) {
    declare(x_, "sum/x", chunks_.size);
    declare(partials_, "sum/partials", chunks_.count);
  }
  Launch configure(Launch launch) override { return launch_ = kernels_.configure(queue(), launch, chunks_); }
  void reset() override {
    std::ranges::fill(host_partials_.bytes(), std::byte{0xff});
    x_.poison();  // detects missing copies
    partials_.poison();
  }
  void copy_in() override { x_.copy_from(host_x_); }
  void add() override {
    kernels_.accumulate(Pass(runtime(), queue(), launch_, rows()), {chunks_, x_.data(), partials_.data()});
  }
  void copy_out() override { partials_.copy_to(host_partials_.values<Total<T>>()); }
  [[nodiscard]] const HostArray& partials() const override { return host_partials_; }

 private:
  K kernels_;
  Chunks chunks_;
  Launch launch_;
  std::span<const T> host_x_;
  HostArray host_partials_;
  typename Pass::template Array<T> x_;
  typename Pass::template Array<Total<T>> partials_;
};

/// Registers the three orderings of a model, for all types: `make(Of<T>())` gives the kernels of `two_stage`.
struct RegisterTransfers {
  template <class Make>
  RegisterTransfers(const WrittenModel& model, Make make) {
    for (const auto& [method, ordering] : {std::pair{"interleaved", Ordering::interleaved},
                                           {"two_phase", Ordering::two_phase},
                                           {"two_phase_sync", Ordering::two_phase_sync}})
      Register<Sum>(method, model, [make, ordering](const Sum& problem, const Context& context) {
        return with_type<float, double, std::int32_t>(problem.dtype, [&]<class T>() {
          const auto kernels = make(Of<T>());
          return transferred(context, ordering, [&](const Shard& shard) -> std::unique_ptr<TransferShard> {
            return std::make_unique<TransferArrayShard<std::remove_const_t<decltype(kernels)>>>(problem, context, shard,
                                                                                                kernels);
          });
        });
      });
  }
};

}  // namespace league::sum
