// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/ranks/rendezvous.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/ranks/together.hpp"

namespace league::bench {
namespace {

constexpr int round_trips = 20;
constexpr double late_s = 20e-6, max_notice_s = 20e-3;

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::span<std::byte> bytes_of(double& value) { return std::as_writable_bytes(std::span(&value, 1)); }

/// Spins until a moment; sleeps where it is far off.
void wait_until(double moment_s) {
  while (now_s() < moment_s)
    if (moment_s - now_s() > 1e-3) std::this_thread::yield();
}

}  // namespace

Rendezvous::Rendezvous(Ranks& ranks) : ranks_(ranks) {
  const std::vector<std::string> hosts = ranks.texts(ranks.place().host);
  const bool one_clock = std::ranges::count(hosts, hosts.front()) == std::ssize(hosts);
  if (!one_clock) compare_clocks();
}

void Rendezvous::compare_clocks() {
  const auto send = [this](int to, double value) {
    const Ranks::Message message{to, bytes_of(value)};
    ranks_.exchange({&message, 1}, {});
  };
  const auto receive = [this](int from) {
    double value = 0;
    const Ranks::Message message{from, bytes_of(value)};
    ranks_.exchange({}, {&message, 1});
    return value;
  };
  std::vector<double> offsets(static_cast<std::size_t>(ranks_.place().size)), errors(offsets.size());
  for (int peer = 1; peer < ranks_.place().size; ++peer) {
    double min_round_trip = 1e9, offset = 0;
    for (int trip = 0; trip < round_trips; ++trip) {
      if (ranks_.place().leads()) {
        const double sent = now_s();
        send(peer, sent);
        const double theirs = receive(peer), back = now_s();
        if (back - sent < min_round_trip) min_round_trip = back - sent, offset = theirs - (sent + back) / 2;
      } else if (ranks_.place().rank == peer) {
        static_cast<void>(receive(0));
        send(0, now_s());
      }
    }
    offsets[static_cast<std::size_t>(peer)] = offset;
    errors[static_cast<std::size_t>(peer)] = min_round_trip / 2;
  }
  ranks_.broadcast(std::as_writable_bytes(std::span(offsets)), 0);
  ranks_.broadcast(std::as_writable_bytes(std::span(errors)), 0);
  offset_s_ = offsets[static_cast<std::size_t>(ranks_.place().rank)];
  clock_error_s_ = std::ranges::max(errors);
}

double Rendezvous::seconds_of(const std::function<void()>& body) {
  if (ranks_.place().alone()) {
    const double begin = now_s();
    body();
    return now_s() - begin;
  }
  ranks_.barrier();
  double moment = now_s() + notice_s_;
  ranks_.broadcast(bytes_of(moment), 0);
  wait_until(moment + offset_s_);
  const double begin = now_s() - offset_s_;
  body();
  const double end = now_s() - offset_s_;
  const std::vector<double> begins = ranks_.values(begin);
  const double skew = std::ranges::max(begins) - std::ranges::min(begins);
  begin_skew_s_ = std::max(begin_skew_s_, skew);
  if (skew > late_s) notice_s_ = std::min(2 * notice_s_, max_notice_s);
  return largest(ranks_, end) - std::ranges::min(begins);
}

}  // namespace league::bench
