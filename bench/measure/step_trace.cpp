// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/step_trace.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace league::bench {
namespace {

/// SimGrid's number of MPI_BYTE.
const std::string bytes_type = " 6";
/// The stage in which a queue waits for an exchange on another queue of the communicator.
constexpr std::string_view awaits_exchange = "exchange";

class TracedCommunicator final : public Communicator {
 public:
  TracedCommunicator(std::unique_ptr<Communicator> engine, StepTrace& trace)
      : engine_(std::move(engine)), trace_(trace) {}

  void reserve(std::int64_t bytes, Order order, int queue) override { engine_->reserve(bytes, order, queue); }
  void all_reduce(std::span<const Buffer> buffers, Order order, int queue) override {
    trace_.communicate([&](int) { return "allreduce " + bytes_of(buffers) + " 0" + bytes_type; });
    engine_->all_reduce(buffers, order, queue);
  }
  void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) override {
    std::string pieces;
    for (int shard = 0; shard < trace_.shards(); ++shard) pieces += piece_bytes(buffers, shard) + " ";
    trace_.communicate([&](int) { return "reducescatter " + pieces + "0" + bytes_type; });
    engine_->reduce_scatter(buffers, order, queue);
  }
  void all_gather(std::span<const Buffer> buffers, int queue) override {
    const std::string largest = piece_bytes(buffers, 0);
    trace_.communicate([&](int) { return "allgather " + largest + " " + largest + bytes_type + bytes_type; });
    engine_->all_gather(buffers, queue);
  }
  void gather(std::span<const Buffer> pieces, Buffer whole, int queue) override {
    const std::string largest = std::to_string(std::ranges::max(pieces, {}, &Buffer::bytes).bytes());
    trace_.communicate([&](int) { return "gather " + largest + " " + largest + " 0" + bytes_type + bytes_type; });
    engine_->gather(pieces, whole, queue);
  }
  void broadcast(std::span<const Buffer> buffers, int queue) override {
    trace_.communicate([&](int) { return "bcast " + bytes_of(buffers) + " 0" + bytes_type; });
    engine_->broadcast(buffers, queue);
  }
  void exchange(std::span<const Transfer> transfers, int queue) override {
    const auto each = [&](const char* action, int Transfer::* self, int Transfer::* other) {
      for (const Transfer& transfer : transfers)
        trace_.communicate([&](int shard) {
          if (transfer.*self != shard) return std::string();
          return action + std::to_string(transfer.*other) + " 0 " + std::to_string(transfer.bytes) + bytes_type;
        });
    };
    each("isend ", &Transfer::from, &Transfer::to);
    each("irecv ", &Transfer::to, &Transfer::from);
    trace_.communicate([&](int shard) {
      return std::ranges::any_of(transfers, [&](const Transfer& t) { return t.from == shard || t.to == shard; })
                 ? std::string("waitall")
                 : std::string();
    });
    engine_->exchange(transfers, queue);
  }

 private:
  static std::string bytes_of(std::span<const Buffer> buffers) { return std::to_string(buffers.front().bytes()); }
  [[nodiscard]] std::string piece_bytes(std::span<const Buffer> buffers, int shard) const {
    const Buffer& buffer = buffers.front();
    const std::int64_t values = piece_of(buffer.size, trace_.shards(), shard).size();
    return std::to_string(values * static_cast<std::int64_t>(size_bytes(buffer.type)));
  }
  std::unique_ptr<Communicator> engine_;
  StepTrace& trace_;
};

}  // namespace

std::unique_ptr<Communicator> StepTrace::follow(Runtime& runtime, std::span<const Shard> shards,
                                                std::unique_ptr<Communicator> engine) {
  for (const Shard& shard : shards) lines_.push_back({shard.index, &runtime.queue(shard.device)});
  if (shards.size() == 1) return engine;
  return std::make_unique<TracedCommunicator>(std::move(engine), *this);
}

void StepTrace::start() {
  for (Lines& lines : lines_) {
    lines.actions.clear();
    lines.queue->clear_marks();
  }
}

void StepTrace::write(std::ostream& out) const {
  for (const Lines& lines : lines_) {
    const std::string rank = std::to_string(lines.shard) + " ";
    out << rank << "init\n";
    for (const Action& action : lines.actions) {
      if (!action.text.empty()) out << rank << action.text << "\n";
      if (action.stage == nullptr || action.calls) continue;
      std::array<char, 32> nanoseconds{};
      std::snprintf(nanoseconds.data(), nanoseconds.size(), "%.0f",
                    lines.queue->seconds(action.begin, action.end) * 1e9);
      out << rank << "compute " << nanoseconds.data() << "\n";
    }
    out << rank << "finalize\n";
  }
}

void StepTrace::begin(Queue& queue, const char* name) {
  if (Lines* lines = of(queue))
    lines->actions.push_back({.stage = name, .begin = queue.mark(), .calls = name == awaits_exchange});
}

void StepTrace::end(Queue& queue, const char* name) {
  Lines* lines = of(queue);
  if (lines == nullptr) return;
  const auto open = std::ranges::find_if(lines->actions.rbegin(), lines->actions.rend(),
                                         [&](const Action& action) { return action.stage == name && action.end < 0; });
  if (open != lines->actions.rend()) open->end = queue.mark();
}

StepTrace::Lines* StepTrace::of(const Queue& queue) {
  const auto found = std::ranges::find(lines_, &queue, &Lines::queue);
  return found == lines_.end() ? nullptr : &*found;
}

void StepTrace::close_to_calls(Lines& lines) {
  for (Action& action : lines.actions) action.calls = action.calls || (action.stage != nullptr && action.end < 0);
}

}  // namespace league::bench
