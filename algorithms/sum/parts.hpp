// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/budget.hpp"
#include "algorithms/shard_part.hpp"
#include "algorithms/sum/chunks.hpp"

namespace league::sum {

/// One variant on one shard: leaves partial sums on its device. Those of all shards are gathered to the first, which
/// adds them.
class SumPart : public ShardPart {
 public:
  using ShardPart::ShardPart;
  /// This shard's partial sums; 0 where it has no elements.
  virtual void accumulate() = 0;
  /// Where they are.
  [[nodiscard]] virtual std::span<std::byte> partials() = 0;
  /// There is but one partial sum in all: `accumulate` has left it in the place of the sum.
  [[nodiscard]] virtual bool is_whole() const = 0;
  /// Where those of all shards go, this one's first. @pre the first shard
  [[nodiscard]] virtual std::span<std::byte> gathered() = 0;
  /// The sum of what was gathered. @pre the first shard
  virtual void finish() = 0;
};

/// All shards accumulate, the first one finishes.
std::unique_ptr<Prepared> gathered(const Sum& problem, const Context& context,
                                   const std::function<std::unique_ptr<SumPart>(const Shard&)>& make);
template <class P>
std::unique_ptr<Prepared> gathered(const Sum& problem, const Context& context) {
  return gathered(problem, context, [&](const Shard& shard) { return std::make_unique<P>(problem, context, shard); });
}

/// How many partial sums there are.
enum class Partials { a_chunk, a_shard };

/// The chunks of a shard, and its memory, whatever the model: `make.operator()<V>(label, size)` makes an Array<V>.
template <template <class> class Array, class T>
class ArrayPart : public SumPart {
 public:
  void reset() override {
    SumPart::reset();
    partials_.poison();
  }
  std::span<std::byte> partials() override { return bytes(target(), own_); }
  [[nodiscard]] bool is_whole() const override { return all_ == 1; }
  std::span<std::byte> gathered() override { return bytes(partials_.data(), all_); }

 protected:
  template <class Make>
  ArrayPart(const Sum& problem, const Context& context, const Shard& shard, Partials kind, const Make& make)
      : SumPart(context, shard),
        chunks_{rows().size(), problem.elements(rows()).size(), problem.chunk},
        own_(kind == Partials::a_shard ? 1 : rows().size()) {
    for (const Shard& other : context.shards) all_ += kind == Partials::a_shard ? 1 : other.rows.size();
    const std::int64_t kept = !is_first() ? own_ : is_whole() ? 0 : all_;
    require_memory(chunks_.size * std::int64_t{sizeof(T)} + (kept + 1) * std::int64_t{sizeof(Total<T>)},
                   context.memory_budget_bytes);
    x_ = make.template operator()<T>("sum/x", chunks_.size);
    partials_ = make.template operator()<Total<T>>("sum/partials", kept);
    sum_ = make.template operator()<Total<T>>("sum/sum", is_first() ? 1 : 0);
    const Range elements = problem.elements(rows());
    input(x_, problem.x.values<T>(elements.begin, elements.end));
    whole_output(sum_, 0);
  }

  /// Where this shard's partial sums go.
  Total<T>* target() { return is_first() && is_whole() ? sum_.data() : partials_.data(); }

  Chunks chunks_;
  std::int64_t own_, all_ = 0;  ///< partial sums of this shard, and of all
  Array<T> x_;
  Array<Total<T>> partials_, sum_;

 private:
  static std::span<std::byte> bytes(Total<T>* values, std::int64_t count) {
    return std::as_writable_bytes(std::span(values, static_cast<std::size_t>(count)));
  }
};

/// One variant on one shard, from pinned host memory to pinned host memory. All calls only queue work.
class TransferPart : public ShardPart {
 public:
  using ShardPart::ShardPart;
  [[nodiscard]] Timing timing() const override { return {.reset_each = true, .host_clock = true}; }
  virtual void copy_in() = 0;
  virtual void add() = 0;
  virtual void copy_out() = 0;
  /// What was copied out: a sum for each chunk.
  [[nodiscard]] virtual const HostArray& partials() const = 0;
};

enum class Ordering { interleaved, two_phase, two_phase_sync };

/// The shards' work in one of the three orderings. The host adds what was copied out, untimed, as it is downloaded.
std::unique_ptr<Prepared> transferred(const Sum& problem, const Context& context, Ordering ordering,
                                      const std::function<std::unique_ptr<TransferPart>(const Shard&)>& make);
template <class P>
std::unique_ptr<Prepared> transferred(const Sum& problem, const Context& context, Ordering ordering) {
  return transferred(problem, context, ordering,
                     [&](const Shard& shard) { return std::make_unique<P>(problem, context, shard); });
}

/// As `ArrayPart`, with the copies.
template <template <class> class Array, class T>
class TransferArrayPart : public TransferPart {
 public:
  void reset() override {
    std::ranges::fill(host_partials_.bytes(), std::byte{0xff});
    x_.poison();  // what is not copied in again is missed
    partials_.poison();
  }
  void copy_in() override { x_.copy_from(host_x_); }
  void copy_out() override { partials_.copy_to(host_partials_.values<Total<T>>()); }
  [[nodiscard]] const HostArray& partials() const override { return host_partials_; }

 protected:
  template <class Make>
  TransferArrayPart(const Sum& problem, const Context& context, const Shard& shard, const Make& make)
      : TransferPart(context, shard),
        chunks_{rows().size(), problem.elements(rows()).size(), problem.chunk},
        host_partials_(context.runtime.host_memory(), dtype_of<Total<T>>, {rows().size()}) {
    require_memory(chunks_.size * std::int64_t{sizeof(T)} + chunks_.count * std::int64_t{sizeof(Total<T>)},
                   context.memory_budget_bytes);
    const Range elements = problem.elements(rows());
    host_x_ = problem.x.values<T>(elements.begin, elements.end);
    x_ = make.template operator()<T>("sum/x", chunks_.size);
    partials_ = make.template operator()<Total<T>>("sum/partials", chunks_.count);
  }

  Chunks chunks_;
  std::span<const T> host_x_;
  HostArray host_partials_;
  Array<T> x_;
  Array<Total<T>> partials_;
};

}  // namespace league::sum
