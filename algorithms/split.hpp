// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace league {

/// One variant on the rows of one shard: what a kernel file writes. `split` lifts it to all shards.
/// Its arrays are `host::Array`, `kokkos::Array` or `cuda::Array`: made in the constructor, named as input or output.
class Part {
 public:
  Part(const Context& context, const Shard& shard) : queue_(context.runtime.queue(shard.device)), rows_(shard.rows) {}
  virtual ~Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  /// Called once, with the host arrays that `download` will be given: for what copies results out while it computes, or
  /// computes them in a form of its own.
  virtual void bind(Outputs&) {}
  /// As `Prepared::configure`, for this shard.
  virtual Launch configure(Launch launch) = 0;
  [[nodiscard]] virtual Timing timing() const { return {}; }
  virtual void compute(Stages& stages) = 0;
  /// Poisons the outputs; what has more state extends it.
  virtual void reset();
  virtual void upload();
  virtual void download(const Outputs& outputs);
  virtual void fence() { queue_.fence(); }

  [[nodiscard]] Queue& queue() const { return queue_; }
  [[nodiscard]] Range rows() const { return rows_; }

 protected:
  /// `array` is filled from `host` by every upload.
  template <class Array>
  void input(Array& array, std::span<const typename Array::value_type> host) {
    uploads_.push_back([&array, host] { array.copy_from(host); });
  }
  /// `array` holds this shard's rows of the problem's output number `index`.
  template <class Array>
  void output(Array& array, std::size_t index) {
    poisons_.push_back([&array] { array.poison(); });
    downloads_.push_back([&array, index, this](const Outputs& outputs) {
      array.copy_to(outputs.at(index).values.template values<typename Array::value_type>(rows_.begin, rows_.end));
    });
  }

 private:
  Queue& queue_;
  Range rows_;
  std::vector<std::function<void()>> uploads_, poisons_;
  std::vector<std::function<void(const Outputs&)>> downloads_;
};

/// A case made of one independent part a shard, launched one after another and fenced together.
std::unique_ptr<Prepared> split(const Problem& problem, const Context& context,
                                const std::function<std::unique_ptr<Part>(const Shard&)>& make);

/// `split<Part>(problem, context)` where the part is made from (problem, context, shard).
template <class P, class Problem>
std::unique_ptr<Prepared> split(const Problem& problem, const Context& context) {
  return split(problem, context, [&](const Shard& shard) { return std::make_unique<P>(problem, context, shard); });
}

/// Calls `body.template operator()<T>()` with the type that `dtype` names, of those listed.
template <class... Ts, class Body>
std::unique_ptr<Prepared> with_type(Dtype dtype, const Body& body) {
  std::unique_ptr<Prepared> prepared;
  ((dtype == dtype_of<Ts> ? void(prepared = body.template operator()<Ts>()) : void()), ...);
  if (!prepared) throw Unsupported("no kernel for " + std::string(name(dtype)) + " in this variant");
  return prepared;
}

}  // namespace league
