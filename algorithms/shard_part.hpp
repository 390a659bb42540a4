// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/registry.hpp"
#include "algorithms/with_type.hpp"

namespace league {

/// The memory of one variant on one shard. Its arrays are `host::Array`, `kokkos::Array` or `cuda::Array`: made in the
/// constructor, named as input or output.
class ShardPart {
 public:
  ShardPart(const Context& context, const Shard& shard)
      : queue_(context.runtime.queue(shard.device)),
        rows_(shard.rows),
        first_(shard.device == context.shards.front().device) {}
  virtual ~ShardPart() = default;
  ShardPart(const ShardPart&) = delete;
  ShardPart& operator=(const ShardPart&) = delete;

  /// Called once, with the host arrays that `download` will be given: for what copies results out while it computes, or
  /// computes them in a form of its own.
  virtual void bind(Outputs&) {}
  /// As `Prepared::configure`, for this shard.
  virtual Launch configure(Launch launch) = 0;
  [[nodiscard]] virtual Timing timing() const { return {}; }
  /// Poisons the outputs; what has more state extends it.
  virtual void reset();
  virtual void upload();
  virtual void download(const Outputs& outputs);
  virtual void fence() { queue_.fence(); }

  [[nodiscard]] Queue& queue() const { return queue_; }
  [[nodiscard]] Range rows() const { return rows_; }
  /// The first shard downloads what is the same on all.
  [[nodiscard]] bool is_first() const { return first_; }

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
  /// `array` holds all of the problem's output number `index`, the same on every shard.
  template <class Array>
  void whole_output(Array& array, std::size_t index) {
    poisons_.push_back([&array] { array.poison(); });
    if (is_first())
      downloads_.push_back([&array, index](const Outputs& outputs) {
        array.copy_to(outputs.at(index).values.template values<typename Array::value_type>());
      });
  }

 private:
  Queue& queue_;
  Range rows_;
  bool first_;
  std::vector<std::function<void()>> uploads_, poisons_;
  std::vector<std::function<void(const Outputs&)>> downloads_;
};

/// All bytes of all values 0xff.
void poison(const Outputs& outputs);

/// All shards of a case, but for the computing.
template <class P>
class ShardParts : public Prepared {
 public:
  ShardParts(const Problem& problem, const Context& context,
             const std::function<std::unique_ptr<P>(const Shard&)>& make)
      : outputs_(problem.make_outputs(context.runtime.host_memory())) {
    for (const Shard& shard : context.shards) parts_.push_back(make(shard));
    for (const auto& part : parts_) part->bind(outputs_);
  }
  Launch configure(Launch launch) override {
    Launch effective;
    for (const auto& part : parts_) {
      const Launch its_own = part->configure(launch);
      if (part == parts_.front()) effective = its_own;  // the first shard is the largest
    }
    return effective;
  }
  [[nodiscard]] Timing timing() const override { return parts_.front()->timing(); }
  void upload() override {
    for (const auto& part : parts_) part->upload();
  }
  void reset() override {
    poison(outputs_);
    for (const auto& part : parts_) part->reset();
  }
  const Outputs& download() override {
    for (const auto& part : parts_) part->download(outputs_);
    return outputs_;
  }
  void fence() override {
    for (const auto& part : parts_) part->fence();
  }

 protected:
  [[nodiscard]] const std::vector<std::unique_ptr<P>>& parts() const { return parts_; }

 private:
  Outputs outputs_;
  std::vector<std::unique_ptr<P>> parts_;
};

}  // namespace league
