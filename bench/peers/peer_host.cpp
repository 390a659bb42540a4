// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/peer_host.hpp"

#include <algorithm>
#include <stdexcept>

#include "bench/json.hpp"
#include "bench/peers/answer.hpp"

namespace league::bench {
namespace {

constexpr int import_timeout_s = 600;

}  // namespace

std::shared_ptr<SharedArrays> PeerHost::inputs_of(const Problem& problem, std::int64_t free_bytes) {
  std::weak_ptr<SharedArrays>& kept = inputs_[&problem];
  if (std::shared_ptr<SharedArrays> inputs = kept.lock()) return inputs;
  const Outputs arrays = problem.inputs();
  auto inputs = std::make_shared<SharedArrays>(arrays, free_bytes);
  inputs->copy_from(arrays);
  kept = inputs;
  return inputs;
}

std::unique_ptr<python::Process> PeerHost::start(int threads) const {
  return std::make_unique<python::Process>(
      interpreter_, python::Process::Start{.module = "backends.python.worker", .threads = threads});
}

/// Waits for its answer. Why a library cannot be imported is for the case to say, in a worker of its own.
bool PeerHost::is_usable(Ahead& ahead) {
  if (!std::exchange(ahead.is_asked, false)) return ahead.process != nullptr;
  try {
    const Answer imported(ahead.process->receive(import_timeout_s));
  } catch (const std::exception&) {
    ahead.process.reset();
  }
  return ahead.process != nullptr;
}

void PeerHost::expect(std::deque<Library> next, int at_once) {
  ahead_.clear();
  next_ = std::move(next);
  at_once_ = static_cast<std::size_t>(at_once);
  start_ahead();
}

void PeerHost::start_ahead() {
  if (!ahead_.empty()) return;
  while (!next_.empty() && ahead_.size() < at_once_) {
    const Library library = next_.front();
    next_.pop_front();
    std::unique_ptr<python::Process> process;
    try {
      process = start(library.threads);
    } catch (const std::runtime_error&) {
      return next_.clear();  // each case says why
    }
    process->send(text_of({{"call", "load"}, {"algorithm", library.algorithm}, {"model", library.model}}));
    ahead_.push_back({library, std::move(process)});
  }
}

std::unique_ptr<python::Process> PeerHost::take(const Library& library) {
  const auto found = std::ranges::find(ahead_, library, &Ahead::library);
  if (found == ahead_.end()) {
    const auto later = std::ranges::find(next_, library);
    if (later != next_.end()) next_.erase(later);
    return start(library.threads);
  }
  Ahead taken = std::move(*found);
  ahead_.erase(found);
  return is_usable(taken) ? std::move(taken.process) : start(library.threads);
}

void PeerHost::settle() {
  for (Ahead& ahead : ahead_) static_cast<void>(is_usable(ahead));
}

}  // namespace league::bench
