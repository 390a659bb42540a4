// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <chrono>
#include <iostream>

#include "backends/mpi/ranks.hpp"

namespace league::mpi {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int tag = 1;
constexpr auto pause = std::chrono::milliseconds(100);
constexpr int pauses_between_beats = 10;

/// Messages of this rank to another; at most one pending.
struct Peer {
  int rank;
  Clock::time_point last_heard = Clock::now();
  Request* sending = nullptr;
};

}  // namespace

Heartbeat::Heartbeat(const Calls& calls, Group* group, std::vector<std::string> hosts, int rank)
    : calls_(calls), group_(group), hosts_(std::move(hosts)), rank_(rank), thread_([this] { beat(); }) {}

Heartbeat::~Heartbeat() {
  stop_ = true;
  thread_.join();
}

void Heartbeat::beat() {
  static char message = 0, received = 0;  // content unused
  std::vector<Peer> peers;
  for (int rank = 0; rank < static_cast<int>(hosts_.size()); ++rank)
    if ((rank == 0) != (rank_ == 0)) peers.push_back({rank});
  Clock::time_point last_turn = Clock::now();
  for (int turn = 0; !stop_; ++turn) {
    const Clock::time_point now = Clock::now();
    // If this process itself was stopped (SIGSTOP, SIGCONT), the silence of others means nothing.
    const bool was_stopped = now - last_turn > std::chrono::duration<double>(limit_s / 2);
    last_turn = now;
    for (int from = calls_.sender(group_, tag); from >= 0; from = calls_.sender(group_, tag)) {
      Request* request = calls_.receive(group_, &received, 1, from, tag);
      while (!calls_.test(request)) std::this_thread::yield();
      for (Peer& peer : peers)
        if (peer.rank == from) peer.last_heard = now;
    }
    for (Peer& peer : peers) {
      if (was_stopped) peer.last_heard = now;
      if (peer.sending != nullptr && calls_.test(peer.sending)) peer.sending = nullptr;
      if (peer.sending == nullptr && turn % pauses_between_beats == 0)
        peer.sending = calls_.send(group_, &message, 1, peer.rank, tag);
      if (now - peer.last_heard > std::chrono::duration<double>(limit_s) && !stop_) {
        std::cerr << "league: rank " << peer.rank << " on " << hosts_[static_cast<std::size_t>(peer.rank)]
                  << " has not answered rank " << rank_ << " for " << limit_s
                  << " s: the run ends. Records are kept; --resume continues\n";
        calls_.abort(1);
      }
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace league::mpi
