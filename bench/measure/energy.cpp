// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/energy.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "backends/backend.hpp"
#include "bench/measure/clock.hpp"

namespace league::bench {
namespace {

constexpr auto poll_every = std::chrono::milliseconds(2);
constexpr int min_updates = 8, min_computes = 6;
constexpr double patience_s = 3;  // for an update of the counter

/// Reads a counter in a thread of its own, and keeps when it changed.
class Poll {
 public:
  Poll(EnergyCounter& counter, const Stopwatch& watch)
      : thread_([this, &counter, &watch](const std::stop_token& stop) { run(counter, watch, stop); }) {}

  /// Whether the counter was updated since that time; also true if it cannot be read any more.
  [[nodiscard]] bool updated_since(double at_s) {
    const std::scoped_lock lock(mutex_);
    return !error_.empty() || (!log_.updates.empty() && log_.updates.back().at_s >= at_s);
  }
  /// Updates and power readings so far. @throws Unsupported if the counter cannot be read any more
  [[nodiscard]] EnergyLog stop() {
    thread_.request_stop();
    thread_.join();
    if (!error_.empty()) throw Unsupported(error_);
    return std::move(log_);
  }

 private:
  void run(EnergyCounter& counter, const Stopwatch& watch, const std::stop_token& stop) {
    try {
      double before = counter.read().joules;
      double before_s = watch.seconds();
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(poll_every);
        const EnergyReading now = counter.read();
        const double now_s = watch.seconds();
        const std::scoped_lock lock(mutex_);
        if (now.joules != before) log_.updates.push_back({(before_s + now_s) / 2, now.joules});
        if (now.watts) log_.watts.push_back({now_s, *now.watts});
        before = now.joules;
        before_s = now_s;
      }
    } catch (const std::exception& error) {
      const std::scoped_lock lock(mutex_);
      error_ = error.what();
    }
  }
  std::mutex mutex_;
  EnergyLog log_;
  std::string error_;
  std::jthread thread_;  // last: it uses the others
};

/// The counter at a time between its first and its last update.
double joules_at(const std::vector<EnergyLog::Value>& updates, double at_s) {
  const auto after = std::ranges::upper_bound(updates, at_s, {}, &EnergyLog::Value::at_s);
  const auto next = std::clamp(after, updates.begin() + 1, updates.end() - 1), last = next - 1;
  return last->value + (next->value - last->value) * (at_s - last->at_s) / (next->at_s - last->at_s);
}

}  // namespace

Energy energy_of(const EnergyLog& log, int parts) {
  Energy energy;
  const auto [begin, end] = std::pair(log.progress.front(), log.progress.back());
  energy.window_s = end.at_s - begin.at_s;
  const auto within = [&](const EnergyLog::Value& update) {
    return update.at_s >= begin.at_s && update.at_s <= end.at_s;
  };
  energy.updates = static_cast<int>(std::ranges::count_if(log.updates, within));
  const bool covered =
      !log.updates.empty() && log.updates.front().at_s <= begin.at_s && log.updates.back().at_s >= end.at_s;
  if (energy.updates < min_updates || !covered) {
    energy.reason = "its counter was updated " + std::to_string(energy.updates) + " times in " +
                    std::to_string(energy.window_s).substr(0, 4) + " s";
    return energy;
  }
  const auto joules_between = [&](const EnergyLog::Progress& from, const EnergyLog::Progress& to) {
    return joules_at(log.updates, to.at_s) - joules_at(log.updates, from.at_s);
  };
  EnergyLog::Progress from = begin;
  for (const EnergyLog::Progress& to : log.progress) {
    const auto done = static_cast<double>(energy.joules.size() + 1);
    const bool reached = to.at_s - begin.at_s >= energy.window_s * done / parts || to.computes == end.computes;
    if (!reached || to.computes == from.computes) continue;
    energy.joules.push_back(joules_between(from, to) / static_cast<double>(to.computes - from.computes));
    from = to;
  }
  energy.seconds = energy.window_s / static_cast<double>(end.computes - begin.computes);
  energy.watts = joules_between(begin, end) / energy.window_s;
  double sum = 0;
  int readings = 0;
  for (const EnergyLog::Value& reading : log.watts)
    if (within(reading)) {
      sum += reading.value;
      ++readings;
    }
  if (readings > 0) energy.read_watts = sum / readings;
  return energy;
}

Energy measure_energy(EnergyCounter& counter, const std::function<int()>& work, const EnergyWindow& window) {
  const Stopwatch watch;
  Poll poll(counter, watch);
  while (watch.seconds() < window.warm_s || (!poll.updated_since(0) && watch.seconds() < window.warm_s + patience_s))
    work();
  std::vector<EnergyLog::Progress> progress{{watch.seconds(), 0}};
  const auto lasts = [&] { return progress.back().at_s - progress.front().at_s; };
  while (lasts() < window.window_s || (progress.back().computes < min_computes && lasts() < window.max_window_s)) {
    const int computes = work();
    progress.push_back({watch.seconds(), progress.back().computes + computes});
  }
  const double end_s = progress.back().at_s;
  while (!poll.updated_since(end_s) && watch.seconds() < end_s + patience_s) work();
  EnergyLog log = poll.stop();
  log.progress = std::move(progress);
  Energy energy = energy_of(log, window.parts);
  energy.counter = counter.name();
  return energy;
}

}  // namespace league::bench
