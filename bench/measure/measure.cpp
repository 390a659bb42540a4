// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <ranges>

#include "bench/measure/clock.hpp"
#include "bench/ranks/gathered.hpp"
#include "bench/ranks/together.hpp"

namespace league::bench {
namespace {

constexpr double min_gpu_sample_s = 200e-6, min_host_sample_s = 1e-3;
constexpr double min_time_s = 1e-9;  // a time of empty work must still be positive
constexpr int max_batch = 100;       // a queue holds about a thousand launches
constexpr double max_batch_s = 0.5;
constexpr double very_long_s = 3, long_sampling_s = 60;

/// Whether there may be work on second queues, beside kernels.
bool overlaps(PreparedCase& prepared_case) {
  return !prepared_case.world().alone() || prepared_case.prepared().timing().host_feeds;
}

/// Puts a mark before and after each stage of a compute.
class MarkingStages final : public Stages {
 public:
  MarkingStages(PreparedCase& prepared_case, bool in_turn) : in_turn_(in_turn) {
    Runtime& runtime = prepared_case.runtime();
    const std::span<const Shard> shards = prepared_case.shards();
    for (const int queue : overlaps(prepared_case) ? std::vector{0, 1} : std::vector{0})
      for (std::size_t i = 0; i < shards.size(); ++i) bases_.push_back({&runtime.queue(shards[i].device, queue), i});
  }
  [[nodiscard]] bool traced() const override { return in_turn_; }
  [[nodiscard]] bool unmarked() const override { return false; }

  /// Puts a base mark on each queue, to relate the clocks of the devices to the host's. @pre all queues are empty or
  /// held
  void start() {
    for (const Base& base : bases_) base.queue->clear_marks();
    bases_.front().mark = bases_.front().queue->mark();
    const Stopwatch since_first;
    for (Base& base : bases_ | std::views::drop(1)) {
      const bool is_second = base.queue->index() != 0;  // its mark: right after that of the device's first queue
      if (is_second) base.queue->wait_for(*bases_[base.device].queue);
      base.mark = base.queue->mark();
      base.at_s = is_second ? bases_[base.device].at_s : since_first.seconds();
    }
  }

  /// Times per repeat; the timeline covers all repeats. @pre all queues were fenced
  [[nodiscard]] Trace read(int repeats) const {
    std::map<std::string, std::map<Queue*, double>> stages;
    std::vector<std::pair<Queue*, std::array<int, 2>>> spans;  // first and last mark of each queue, in the order of use
    for (const Span& span : spans_) {
      stages[span.name][span.queue] += span.queue->seconds(span.begin, span.end);
      if (span.queue->index() != 0) continue;
      const auto found = std::ranges::find(spans, span.queue, &decltype(spans)::value_type::first);
      if (found == spans.end())
        spans.push_back({span.queue, {span.begin, span.end}});
      else
        found->second[1] = span.end;
    }
    Trace trace;
    for (const auto& [name, by_queue] : stages)
      for (const auto& [queue, seconds] : by_queue)
        trace.stages[name] = std::max(trace.stages[name], seconds / repeats);
    for (const auto& [queue, marks] : spans) trace.per_device_s.push_back(queue->seconds(marks[0], marks[1]) / repeats);
    for (const Span& span : spans_) trace.timeline.push_back(event(span));
    return trace;
  }

 private:
  /// A queue, its device among those of the case, its base mark, and the host's time of that mark relative to the first
  /// queue.
  struct Base {
    Queue* queue;
    std::size_t device;
    int mark = 0;
    double at_s = 0;
  };
  struct Span {
    Queue* queue;
    const char* name;
    int begin, end;
  };
  void begin(Queue& queue, const char* name) override { spans_.push_back({&queue, name, queue.mark(), -1}); }
  void end(Queue& queue, const char* name) override {
    const auto open = std::find_if(spans_.rbegin(), spans_.rend(), [&](const Span& span) {
      return span.queue == &queue && span.name == name && span.end < 0;
    });
    if (open != spans_.rend()) open->end = queue.mark();
  }
  [[nodiscard]] Event event(const Span& span) const {
    const auto base = std::ranges::find(bases_, span.queue, &Base::queue);
    return {static_cast<int>(base->device), span.name, base->at_s + span.queue->seconds(base->mark, span.begin),
            base->at_s + span.queue->seconds(base->mark, span.end), span.queue->index()};
  }
  bool in_turn_;
  std::vector<Base> bases_;  ///< the first queues of all devices, then the second ones where they are used
  std::vector<Span> spans_;
};

/// RAII: holds a queue back until released.
class Hold {
 public:
  explicit Hold(Queue& queue) : queue_(queue) { queue_.hold(); }
  ~Hold() { release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  /// False if the hold had timed out.
  bool release() {
    if (held_) whole_ = queue_.release();
    held_ = false;
    return whole_;
  }

 private:
  Queue& queue_;
  bool held_ = true, whole_ = true;
};

}  // namespace

std::string_view name(Metric metric) {
  static constexpr std::array names{"device_time", "makespan", "host_time"};
  return names[static_cast<std::size_t>(metric)];
}

Checked check_traced(PreparedCase& prepared_case, Trace& trace) {
  MarkingStages stages(prepared_case, false);
  Checked checked = check_fresh(prepared_case, stages, [&] { stages.start(); });
  trace = gathered(prepared_case.runtime().ranks(), stages.read(prepared_case.prepared().timing().repeats));
  return checked;
}

Meter::Meter(PreparedCase& prepared_case, double checked_s)
    : prepared_case_(prepared_case),
      timing_(prepared_case.prepared().timing()),
      rendezvous_(prepared_case.runtime().ranks()),
      clock_(dynamic_cast<SelfTimed*>(&prepared_case.prepared())),
      latency_s_(checked_s),
      expected_s_(checked_s) {
  const bool on_gpu = prepared_case.shards().front().device.kind == DeviceKind::gpu;
  const bool several = !prepared_case.world().alone();
  metric_ = several ? Metric::makespan : on_gpu && !timing_.host_clock ? Metric::device_time : Metric::host_time;
  holds_ = metric_ == Metric::device_time && clock_ == nullptr && !timing_.host_feeds;
  if (!is_very_long(checked_s)) look_first();
}

Meter::Meter(PreparedCase& prepared_case, const Meter& first)
    : prepared_case_(prepared_case),
      timing_(first.timing_),
      rendezvous_(prepared_case.runtime().ranks()),
      clock_(dynamic_cast<SelfTimed*>(&prepared_case.prepared())),
      metric_(first.metric_),
      holds_(first.holds_),
      latency_s_(first.latency_s_),
      expected_s_(first.expected_s_) {}

void Meter::look_first() {
  std::vector<double> latencies;
  const auto is_brief = [&, watch = Stopwatch()] { return every_rank(ranks(), watch.seconds() < 0.3); };
  while (latencies.empty() || (latencies.size() < 5 && is_brief())) {
    if (timing_.reset_each) {
      prepared_case_.prepared().reset();
      prepared_case_.prepared().fence();
    }
    latencies.push_back(clock_ != nullptr ? clock_->latency_s(!timing_.reset_each) : host_sample(1));
  }
  latency_s_ = median(latencies);
  expected_s_ = latency_s_;
  if (metric_ == Metric::device_time && !is_long() && !timing_.reset_each)
    expected_s_ = std::min(device_sample(1), device_sample(1));
}

Trace Meter::trace() {
  Stages untraced;
  prepared_case_.prepared().reset();
  if (!timing_.reset_each) prepared_case_.prepared().compute(untraced);  // as warm as samples are
  prepared_case_.prepared().fence();
  Trace trace = traced(true);
  if (!overlaps(prepared_case_)) return trace;
  prepared_case_.prepared().reset();
  prepared_case_.prepared().fence();
  const Trace overlapped = traced(false);
  if (std::ranges::any_of(overlapped.timeline, [](const Event& event) { return event.queue != 0; }))
    trace.timeline = overlapped.timeline;
  return trace;
}

Trace Meter::traced(bool in_turn) {
  MarkingStages stages(prepared_case_, in_turn);
  {
    std::optional<Hold> hold;
    if (holds_) hold.emplace(prepared_case_.runtime().queue(prepared_case_.shards().front().device));
    stages.start();
    prepared_case_.prepared().compute(stages);
  }
  prepared_case_.prepared().fence();
  return gathered(ranks(), stages.read(timing_.repeats));
}

int Meter::batch_needed() const {
  if (timing_.reset_each) return 1;
  const bool on_gpu = prepared_case_.shards().front().device.kind == DeviceKind::gpu;
  const double min_sample_s = on_gpu ? min_gpu_sample_s : min_host_sample_s;
  return static_cast<int>(std::clamp(std::ceil(min_sample_s / std::max(expected_s_, 1e-9)), 1.0, double{max_batch}));
}

int Meter::batch_affordable() const {
  if (timing_.reset_each) return 1;
  return static_cast<int>(std::clamp(max_batch_s / std::max(expected_s_, 1e-9), 1.0, double{max_batch}));
}

int Meter::run_for(double seconds) {
  const auto count = static_cast<int>(std::clamp(seconds / std::max(expected_s_, 1e-9), 1.0, 1e4));
  if (clock_ != nullptr) {
    clock_->run(count);
  } else {
    Stages stages;
    for (int i = 0; i < count; ++i) prepared_case_.prepared().compute(stages);
    prepared_case_.prepared().fence();
  }
  return count * timing_.repeats;
}

double Meter::sample(int batch) {
  Stages stages;
  const bool warm = !timing_.reset_each && !is_long();
  if (!warm)
    prepared_case_.prepared().reset();
  else if (clock_ == nullptr)
    prepared_case_.prepared().compute(stages);  // warm caches and clocks
  prepared_case_.prepared().fence();
  if (clock_ != nullptr) return std::max(clock_->seconds(batch, warm), min_time_s);
  const double seconds = metric_ == Metric::device_time ? device_sample(batch) : host_sample(batch);
  return std::max(seconds / timing_.repeats, min_time_s);
}

double Meter::host_sample(int batch) {
  Stages stages;
  return rendezvous_.seconds_of([&] {
    for (int i = 0; i < batch; ++i) prepared_case_.prepared().compute(stages);
    prepared_case_.prepared().fence();
  }) / batch;
}

double Meter::device_sample(int batch) {
  if (clock_ != nullptr) return clock_->seconds(batch, true);
  bool whole = true;
  double seconds = held_sample(batch, whole);
  if (!whole) {  // the compute waits for the host, or overflows the queue: timed without holding
    holds_ = false;
    seconds = held_sample(batch, whole);
  }
  return seconds;
}

double Meter::held_sample(int batch, bool& whole) {
  Stages stages;
  Queue& queue = prepared_case_.runtime().queue(prepared_case_.shards().front().device);
  queue.clear_marks();
  int begin = 0, end = 0;
  {
    std::optional<Hold> hold;
    if (holds_) hold.emplace(queue);
    begin = queue.mark();
    for (int i = 0; i < batch; ++i) prepared_case_.prepared().compute(stages);
    end = queue.mark();
    whole = !hold || hold->release();
  }
  prepared_case_.prepared().fence();
  queue.fence();
  return queue.seconds(begin, end) / batch;
}

bool is_very_long(double seconds) { return seconds > very_long_s; }

int samples_for(int wanted, double seconds) {
  if (!is_very_long(seconds)) return wanted;
  return std::min(wanted, std::clamp(static_cast<int>(long_sampling_s / seconds), 1, 3));
}

}  // namespace league::bench
