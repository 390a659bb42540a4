// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/drivers/variant_shard.hpp"
#include "algorithms/sum/sum.hpp"
#include "backends/pass.hpp"

namespace league::sum {

/// Number of partial sums.
enum class Partials { a_chunk, a_shard };

/// Arguments of a kernel.
template <class T>
struct Work {
  Chunks chunks;
  const T* x;
  Total<T>* sums;  ///< a partial sum per chunk, or one
  void* temporary = nullptr;
  std::size_t temporary_bytes = 0;
};

/// The kernels of a variant; `Pass` is that of the backend.
template <class P, class T>
struct Kernels {
  using Pass = P;
  using Type = T;
  Partials kind;
  Launch (*configure)(Queue&, Launch, Chunks);
  void (*accumulate)(const P&, const Work<T>&);
  void (*finish)(const P&, int count, const Total<T>* partials, Total<T>* sum, const Work<T>&);
  const char* form = "";
  std::size_t (*temporary_bytes)(std::int64_t elements, std::int64_t partials) = nullptr;
};

/// One variant on one shard: computes partial sums on its device. Those of all shards are gathered to the first, which
/// adds them.
class SumShard : public VariantShard {
 public:
  using VariantShard::VariantShard;
  /// Computes this shard's partial sums; 0 without elements.
  virtual void accumulate() const = 0;
  /// The partial sums.
  [[nodiscard]] virtual Buffer partials() const = 0;
  /// There is only one partial sum in all: `accumulate` has written it as the result.
  [[nodiscard]] virtual bool is_whole() const = 0;
  /// The buffer for the partial sums of all shards, this one's first. @pre the first shard
  [[nodiscard]] virtual Buffer gathered() const = 0;
  /// Adds the gathered partial sums. @pre the first shard
  virtual void finish() const = 0;
  [[nodiscard]] virtual Buffer sum() const = 0;
};

/// All shards accumulate, the first one finishes.
std::unique_ptr<Prepared> gathered(const Context& context,
                                   const std::function<std::unique_ptr<SumShard>(const Shard&)>& make);

template <class K>
class ArrayShard final : public SumShard {
 public:
  using Pass = typename K::Pass;
  using T = typename K::Type;

  ArrayShard(const Sum& problem, const Context& context, const Shard& shard, const K& kernels)
      : SumShard(context, shard), kernels_(kernels), chunks_(problem.chunks(rows())), own_(partials_of(rows())) {
    for (const Range& other : world().rows) all_ += partials_of(other);
    const bool processes = world().local < static_cast<int>(world().rows.size());
    input(x_, "sum/x", problem.values<T>(rows()));
    declare(partials_, "sum/partials", !is_first() ? own_ : is_whole() ? 0 : all_);
    declare(sum_, "sum/sum", is_first() || processes ? 1 : 0);
    if (kernels_.temporary_bytes != nullptr)
      declare(temporary_, "sum/temporary", static_cast<std::int64_t>(kernels_.temporary_bytes(chunks_.size, all_)));
    whole_output(sum_, 0);
    result(0).form = kernels_.form;
  }
  Launch configure(Launch launch) override { return launch_ = kernels_.configure(queue(), launch, chunks_); }
  void reset() override {
    SumShard::reset();
    partials_.poison();
  }
  void accumulate() const override { kernels_.accumulate(pass(), work(target())); }
  Buffer partials() const override { return buffer_of(target(), own_); }
  [[nodiscard]] bool is_whole() const override { return all_ == 1; }
  Buffer gathered() const override { return buffer_of(partials_.data(), all_); }
  void finish() const override {
    kernels_.finish(pass(), static_cast<int>(all_), partials_.data(), sum_.data(), work(sum_.data()));
  }
  Buffer sum() const override { return buffer_of(sum_.data(), sum_.size()); }

 private:
  [[nodiscard]] std::int64_t partials_of(Range range) const {
    return kernels_.kind == Partials::a_shard ? 1 : range.size();
  }
  [[nodiscard]] Pass pass() const { return Pass(runtime(), queue(), launch_, rows()); }
  [[nodiscard]] Work<T> work(Total<T>* sums) const {
    return {chunks_, x_.data(), sums, temporary_.data(), static_cast<std::size_t>(temporary_.size())};
  }
  /// Destination of this shard's partial sums.
  [[nodiscard]] Total<T>* target() const { return is_first() && is_whole() ? sum_.data() : partials_.data(); }

  template <class V>
  using Array = typename Pass::template Array<V>;
  K kernels_;
  Chunks chunks_;
  std::int64_t own_, all_ = 0;  ///< partial sums of this shard, and of all
  Launch launch_;
  Array<T> x_;
  Array<Total<T>> partials_, sum_;
  Array<std::uint8_t> temporary_;
};

/// Registers kernels for all types: `make(Of<T>())` gives them.
struct RegisterSum {
  template <class Make>
  RegisterSum(std::string method, WrittenModel model, Make make) {
    Register<Sum>(std::move(method), std::move(model), [make](const Sum& problem, const Context& context) {
      return with_type<float, double, std::int32_t>(problem.dtype, [&]<class T>() {
        const auto kernels = make(Of<T>());
        return gathered(context, [&](const Shard& shard) -> std::unique_ptr<SumShard> {
          return std::make_unique<ArrayShard<std::remove_const_t<decltype(kernels)>>>(problem, context, shard, kernels);
        });
      });
    });
  }
};

}  // namespace league::sum
