// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/cnn/cnn.hpp"
#include "algorithms/cnn/state.hpp"
#include "algorithms/drivers/loader.hpp"
#include "algorithms/drivers/training.hpp"

namespace league::cnn {

/// A shard's part of each batch, from all images in host memory to the device: workers gather it into pinned memory
/// ahead of its step, and the second queue copies it while the step before runs. In a traced pass both are one stage of
/// the first queue, before the step.
template <template <class> class Array>
class LoadedInput {
 public:
  /// `own`: the shard's part of a whole batch; `own_last`: of an epoch's last one.
  LoadedInput(const Cnn& problem, TrainingShard& shard, Range own, Range own_last)
      : problem_(problem),
        shard_(shard),
        own_(own),
        own_last_(own_last),
        layout_(BatchLayout::of(own.size(), problem.network.pixels())) {
    shard.ledger().declare(buffers_, "cnn/staged", BatchLayout::buffers * std::max<std::int64_t>(layout_.all_bytes, 1),
                           {}, &shard.second_queue());
  }
  /// Allocates pinned memory, and starts the workers; they have nothing to do yet.
  void prepare() {
    if (loader_) return;
    const int slots = 2 * problem_.workers + copies_in_flight;
    pinned_ = HostArray(shard_.runtime().host_memory(), Dtype::u8, {slots, layout_.all_bytes});
    for (int slot = 0; slot < slots; ++slot) copied_.push_back(shard_.second_queue().make_event());
    loader_.emplace(problem_.workers, slots, [this](std::int64_t step, int slot) { gather(step, slot); });
  }
  /// As `TrainingShard::start_input`. @pre prepared
  void start(Range steps, const Stages& stages) {
    loader_->start(stages.traced() ? Range{} : steps);
    next_ = next_copy_ = steps.begin;
    end_ = steps.end;
  }
  /// As `TrainingShard::take_input`.
  void take(Stages& stages) {
    if (stages.traced()) return take_in_turn(stages);
    if (next_copy_ == next_) copy_next(stages);  // of the first step: nothing runs beside it
    shard_.queue().wait_for(shard_.second_queue());
    if (next_copy_ < end_) copy_next(stages);
    ++next_;
  }
  [[nodiscard]] const std::uint8_t* buffers() const { return buffers_.data(); }
  [[nodiscard]] const BatchLayout& layout() const { return layout_; }

 private:
  static constexpr int copies_in_flight = 2;  ///< copies that the host may submit before the first is complete

  [[nodiscard]] Range own(std::int64_t step) const {
    return step % problem_.batches() + 1 == problem_.batches() ? own_last_ : own_;
  }
  [[nodiscard]] std::span<std::uint8_t> values(int slot) { return pinned_.values<std::uint8_t>(slot, slot + 1); }
  void gather(std::int64_t step, int slot) {
    const auto images = problem_.data.train.values<const std::uint8_t>();
    const auto labels = problem_.data.train_labels.values<const std::int32_t>();
    const auto image_bytes = static_cast<std::size_t>(problem_.network.pixels());
    const auto to = values(slot);
    auto* to_labels = reinterpret_cast<std::int32_t*>(to.data());
    std::uint8_t* to_image = to.data() + layout_.images_at;
    const Range part = own(step);
    for (std::int64_t i = part.begin; i < part.end; ++i, to_image += image_bytes) {
      const auto number = static_cast<std::size_t>(problem_.order_of(step)[static_cast<std::size_t>(i)]);
      *to_labels++ = labels[number];
      std::memcpy(to_image, &images[number * image_bytes], image_bytes);
    }
  }
  void copy(std::int64_t step, int slot) {
    const std::int64_t bytes = layout_.images_at + own(step).size() * problem_.network.pixels();
    buffers_.copy_from(values(slot).first(static_cast<std::size_t>(bytes)),
                       step % BatchLayout::buffers * layout_.all_bytes);
  }
  /// Submits the next copy, for after the last step that read its buffer.
  void copy_next(Stages& stages) {
    if (in_flight_.size() == copies_in_flight) {
      const int done = in_flight_.front();
      in_flight_.pop_front();
      copied_[static_cast<std::size_t>(done)]->wait();
      loader_->release(done);
    }
    const int slot = loader_->take();
    Queue& queue = shard_.second_queue();
    queue.wait_for(shard_.queue());
    stages.stage(queue, "input", [&] { copy(next_copy_, slot); });
    copied_[static_cast<std::size_t>(slot)]->record();
    in_flight_.push_back(slot);
    ++next_copy_;
  }
  void take_in_turn(Stages& stages) {
    shard_.queue().fence();  // the stage begins now
    shard_.second_queue().fence();
    stages.stage(shard_.queue(), "input", [&] {
      gather(next_, 0);
      copy(next_, 0);
      shard_.queue().wait_for(shard_.second_queue());
    });
    ++next_;
  }

  const Cnn& problem_;
  TrainingShard& shard_;
  Range own_, own_last_;
  BatchLayout layout_;
  Array<std::uint8_t> buffers_;                      ///< [BatchLayout::buffers x layout bytes]
  HostArray pinned_;                                 ///< [slots x layout bytes]
  std::vector<std::unique_ptr<QueueEvent>> copied_;  ///< by slot
  std::deque<int> in_flight_;                        ///< slots, in the order of their copies
  std::int64_t next_ = 0, next_copy_ = 0, end_ = 0;  ///< steps
  std::optional<Loader> loader_;                     ///< ends before the rest
};

}  // namespace league::cnn
