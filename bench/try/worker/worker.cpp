// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

#include "algorithms/contract/altered.hpp"
#include "bench/json.hpp"
#include "bench/measure/clock.hpp"
#include "bench/try/worker/machine.hpp"
#include "bench/try/worker/shared.hpp"

// The user's kernel in a process of its own, with the calls of backends/python/worker.py.
namespace league::own {
namespace {

using bench::Json;
constexpr auto rest = std::chrono::milliseconds(5);  // until threads that spin sleep

/// An array on the device. Before and behind it lies a guard of bytes that must stay as they are.
struct Place {
  std::string argument;
  Shared* of;
  std::string role;
  std::unique_ptr<Block> block;
};

class Worker {
 public:
  explicit Worker(Runtime& runtime) : runtime_(runtime) {}

  Json answer(const Json& request) {
    const std::string what = request.at("call");
    if (what == "prepare") return prepare(request);
    if (what == "upload") upload();
    if (what == "reset") reset();
    if (what == "compute") run(request.value("count", 1));
    if (what == "fence") fence();
    if (what == "download") download();
    if (what == "digest") return {{"digest", std::to_string(digest())}};
    if (what == "inspect") {
      const std::string draw = request.at("draw");
      return {{"digest", std::to_string(inspect(request.at("before"), std::stoull(draw)))}};
    }
    if (what == "paces") {
      const std::string draw = request.at("draw");
      return {{"parts", paces(std::stoull(draw), request.at("pairs"))}};
    }
    if (what == "queue") queue(request.at("count"));
    if (what == "release") return {{"seconds", release()}};
    if (what == "time") return timed(request, [&] { return time(request.at("count")); });
    if (what == "latency") return timed(request, [&] { return host_time(1); });
    return Json::object();
  }

 private:
  Json prepare(const Json& request) {
    const Json& on = request.at("device");
    const bool gpu = on.at("kind") == "gpu";
    device_ = {gpu ? DeviceKind::gpu : DeviceKind::host, on.at("index"), gpu ? 1 : on.at("threads").get<int>()};
    if (gpu && device_.index >= static_cast<int>(runtime_.gpus().size())) throw Unsupported("no GPU answers");
    queue_ = &runtime_.queue(device_);
    machine_ = make_machine(runtime_, *queue_);
    shared_ = mapped(request.at("inputs"), PROT_READ);
    for (Shared& output : mapped(request.at("outputs"), PROT_READ | PROT_WRITE)) shared_.push_back(std::move(output));
    call_.dtype = dtype_from(request.at("parameters").at("dtype").get<std::string>());
    const Json& own = request.at("own");
    guard_ = own.at("guard");
    for (const Json& argument : own.at("arguments")) place(argument, request.at("parameters"));
    return {{"reset_each", false}, {"forms", Json::object()}};
  }
  Shared& shared(const std::string& name) {
    const auto found = std::ranges::find(shared_, name, &Shared::name);
    if (found == shared_.end()) throw Unsupported("this problem has no `" + name + "`");
    return *found;
  }
  void place(const Json& argument, const Json& parameters) {
    const std::string name = argument.at("name"), role = argument.at("role"), source = argument.at("source");
    if (role == "number") {
      call_.numbers[name] = parameters.at(source).get<double>();
    } else if (role == "size") {
      call_.numbers[name] = static_cast<double>(shared(source).shape.at(argument.at("dimension").get<std::size_t>()));
    } else {
      Shared& like = shared(source);
      const std::string type = argument.at("type");
      const Dtype dtype = role == "scratch" && type != "T" ? dtype_from(type) : like.dtype;
      const std::size_t values = like.bytes.size() / size_bytes(like.dtype);
      places_.push_back(
          {name, &like, role, machine_->allocate(name, static_cast<std::int64_t>(values * size_bytes(dtype)), guard_)});
      places_.back().block->poison();
      call_.arrays[name] = {places_.back().block->data(), dtype};
    }
  }
  void upload() {
    for (const Place& place : places_)
      if (place.role == "input") place.block->copy_from(place.of->bytes, 0);
  }
  void reset() {
    for (const Place& place : places_)
      if (place.role != "input") place.block->poison();
  }
  void run(int count) {
    for (int i = 0; i < count; ++i) machine_->run(call_);
  }
  void fence() {
    queue_->fence();
    machine_->wait();
  }
  void download() {
    for (const Place& place : places_) {
      if (place.role == "output") place.block->copy_to(place.of->bytes, 0);
      if (place.role == "scratch" || guard_ == 0) continue;
      require_guard(place, -guard_, "before the beginning");
      require_guard(place, std::ssize(place.of->bytes), "beyond the end");
    }
    fence();
  }
  /// @throws std::runtime_error where the guard at this byte of an array has changed
  void require_guard(const Place& place, std::int64_t at, const std::string& where) {
    std::vector<std::uint8_t> guard(static_cast<std::size_t>(guard_));
    place.block->copy_to(guard, at);
    fence();
    if (std::ranges::any_of(guard, [](std::uint8_t byte) { return byte != 0xff; }))
      throw std::runtime_error("illegal access: it writes " + where + " of `" + place.argument + "`");
  }

  [[nodiscard]] std::uint64_t digest() const {
    std::uint64_t sum = 0, number = 0;
    for (const Place& place : places_)
      if (place.role == "output") sum += random_bits(place.block->digest(std::ssize(place.of->bytes)), 0, number++);
    return sum;
  }
  /// As `SelfTimed::inspect` (bench/measure/self_timed.hpp).
  std::uint64_t inspect(int before, std::uint64_t draw) {
    if (before == 0)
      reset();
    else
      run(1);  // as before a sample
    fence();
    run(before);
    if (draw != 0)
      alter(draw, false);
    else if (before > 0)
      reset();
    run(1);
    queue_->fence();
    const std::uint64_t at_once = digest();
    fence();
    std::this_thread::sleep_for(rest);
    fence();
    const std::uint64_t later = digest();
    if (at_once != later)
      throw std::runtime_error(
          "its results were still changing after the call had returned and its queue was empty: work is deferred to "
          "another thread or stream");
    if (draw != 0) alter(draw, true);
    fence();
    return later;
  }
  /// As `Prepared::alter`, or undoes it.
  void alter(std::uint64_t draw, bool undo) {
    std::size_t number = 0;
    for (const Place& place : places_) {
      const std::size_t value = size_bytes(place.of->dtype), size = place.of->bytes.size() / value;
      if (place.role != "input" || size == 0) continue;
      const Altered values = altered(draw, number++, size);
      place.block->copy_from(place.of->bytes.subspan((undo ? values.to : values.from) * value, values.count * value),
                             static_cast<std::int64_t>(values.to * value));
    }
  }

  /// The shortest of some computes: on the inputs of the one before, and on inputs that were altered just before.
  Json paces(std::uint64_t draw, std::uint64_t pairs) {
    double same_s = host_time(1), altered_s = same_s;
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
      same_s = pair == 0 ? host_time(1) : std::min(same_s, host_time(1));
      alter(draw + 4 * pair, false);
      fence();
      altered_s = pair == 0 ? host_time(1) : std::min(altered_s, host_time(1));
    }
    for (std::uint64_t pair = 0; pair < pairs; ++pair) alter(draw + 4 * pair, true);
    fence();
    return {{"same", same_s}, {"altered", altered_s}};
  }
  /// Computes that `release` waits for and times, as the other side does.
  void queue(int count) {
    queued_ = count;
    queue_->clear_marks();
    since_queued_ = bench::Stopwatch();
    first_mark_ = device_.kind == DeviceKind::gpu ? queue_->mark() : 0;
    run(count);
  }
  /// Seconds of one compute, the mean over those.
  double release() {
    const int last_mark = device_.kind == DeviceKind::gpu ? queue_->mark() : 0;
    fence();
    const double seconds =
        device_.kind == DeviceKind::gpu ? queue_->seconds(first_mark_, last_mark) : since_queued_.seconds();
    return seconds / queued_;
  }

  template <class Time>
  Json timed(const Json& request, const Time& seconds) {
    if (request.at("warm").get<bool>()) {
      run(1);
      fence();
    }
    const Json answer = {{"seconds", seconds()}, {"held", held_ && device_.kind == DeviceKind::gpu}};
    std::this_thread::sleep_for(rest);
    return answer;
  }
  /// Seconds of one compute, the mean over `count`, by the clock of the device.
  double time(int count) {
    if (device_.kind == DeviceKind::host) return host_time(count);
    for (;;) {
      queue_->clear_marks();
      if (held_) queue_->hold();
      const int begin = queue_->mark();
      run(count);
      const int end = queue_->mark();
      const bool whole = !held_ || queue_->release();
      queue_->fence();
      const bench::Stopwatch watch;
      machine_->wait();
      require_idle(watch.seconds(), queue_->seconds(begin, end));
      if (whole) return queue_->seconds(begin, end) / count;
      held_ = false;  // the function waits for its own stream
    }
  }
  /// The device was idle once the queue was: else `after_s` is what another stream took beside the queue's `batch_s`.
  static void require_idle(double after_s, double batch_s) {
    if (after_s > 100e-6 && after_s > 0.1 * batch_s)
      throw std::runtime_error("work on another stream than the one it was given: the device went on for " +
                               std::to_string(after_s * 1e6) + " us after a batch of " + std::to_string(batch_s * 1e6) +
                               " us on that stream");
  }
  double host_time(int count) {
    const bench::Stopwatch watch;
    run(count);
    fence();
    return watch.seconds() / count;
  }

  Runtime& runtime_;
  Device device_;
  Queue* queue_ = nullptr;
  std::unique_ptr<Machine> machine_;
  std::vector<Shared> shared_;
  std::vector<Place> places_;
  std::int64_t guard_ = 0;
  Call call_;
  bool held_ = true;
  int queued_ = 1, first_mark_ = 0;
  bench::Stopwatch since_queued_;
};

/// The result of a call, or its error.
Json guarded(Worker& worker, const std::string& line) {
  try {
    return {{"done", worker.answer(Json::parse(line))}};
  } catch (const Unsupported& reason) {
    return {{"unsupported", reason.what()}};
  } catch (const std::bad_alloc&) {
    return {{"unsupported", "out of memory"}};
  } catch (const std::exception& error) {
    return {{"failed", error.what()}};
  }
}

/// Answers calls, one per line, until the socket is closed.
void serve(Worker& worker, int socket) {
  std::string received;
  std::array<char, 65536> text{};
  for (ssize_t count = 0; (count = recv(socket, text.data(), text.size(), 0)) > 0;) {
    received.append(text.data(), static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = received.find('\n')) != std::string::npos; received.erase(0, end + 1)) {
      const std::string reply = bench::text_of(guarded(worker, received.substr(0, end))) + "\n";
      if (send(socket, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return;
    }
  }
}

}  // namespace
}  // namespace league::own

int main(int count, char** words) {
  if (count < 2) return 2;
  try {
    league::Ranks alone(league::Ranks::Place{});
    league::Runtime runtime(alone);
    league::own::Worker worker(runtime);
    league::own::serve(worker, std::stoi(words[1]));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
