// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/loader.hpp"

#include <numeric>
#include <utility>

#include "backends/places.hpp"

namespace league {

Loader::Loader(int workers, int slots, Fill fill) : fill_(std::move(fill)), free_(static_cast<std::size_t>(slots)) {
  std::iota(free_.begin(), free_.end(), 0);
  for (int worker = 0; worker < workers; ++worker)
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

void Loader::start(Range steps) {
  std::unique_lock lock(mutex_);
  waiting_ = {};
  changed_.wait(lock, [&] { return busy_ == 0; });
  for (const auto& [step, slot] : ready_) free_.push_back(slot);
  ready_.clear();
  error_ = nullptr;
  waiting_ = steps;
  next_ = steps.begin;
  changed_.notify_all();
}

int Loader::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return error_ != nullptr || ready_.contains(next_); });
  const auto found = ready_.find(next_);
  if (found == ready_.end()) std::rethrow_exception(error_);
  const int slot = found->second;
  ready_.erase(found);
  ++next_;
  return slot;
}

void Loader::release(int slot) {
  const std::lock_guard lock(mutex_);
  free_.push_back(slot);
  changed_.notify_all();
}

void Loader::work(const std::stop_token& stop) {
  const cpu_set_t processors = all_processors();
  if (CPU_COUNT(&processors) > 0) sched_setaffinity(0, sizeof(processors), &processors);
  std::unique_lock lock(mutex_);
  const auto has_work = [&] { return error_ == nullptr && waiting_.size() > 0 && !free_.empty(); };
  while (changed_.wait(lock, stop, has_work) && !stop.stop_requested()) {
    const std::int64_t step = waiting_.begin++;
    const int slot = free_.back();
    free_.pop_back();
    ++busy_;
    lock.unlock();
    std::exception_ptr error;
    try {
      fill_(step, slot);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    --busy_;
    if (error == nullptr) {
      ready_[step] = slot;
    } else {
      free_.push_back(slot);
      if (error_ == nullptr) error_ = error;
    }
    changed_.notify_all();
  }
}

}  // namespace league
