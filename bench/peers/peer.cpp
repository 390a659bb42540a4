// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/peer.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "bench/json.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/diagnosed.hpp"
#include "bench/measure/self_timed.hpp"
#include "bench/peers/answer.hpp"
#include "bench/peers/reported_time.hpp"
#include "bench/study/models.hpp"
#include "bench/try/diagnosis.hpp"
#include "bench/try/sanitizers.hpp"

namespace league::bench {
namespace {

constexpr int timeout_s = 600;  // for one call; a batch takes half a second, but a first compute may compile

/// The parameters, each in its own JSON type, and the type of the elements.
Json parameters_of(const Peer& peer, const Problem& problem) {
  Json values = {{"dtype", name(problem.dtype)}};
  for (const Parameter& parameter : registry().algorithm(peer.algorithm)->parameters) {
    const std::string& key = parameter.name;
    if (parameter.kind == Parameter::Kind::choice)
      values[key] = problem.parameters.choice(key);
    else if (parameter.kind == Parameter::Kind::real)
      values[key] = problem.parameters.real(key);
    else
      values[key] = problem.parameters.integer(key);
  }
  return values;
}

void require(const Peer& peer, const Problem& problem, const Context& context) {
  if (!context.runtime.ranks().place().alone()) throw Unsupported("a peer runs in one process");
  if (!context.world.alone() && !(peer.several && peer.kind == DeviceKind::gpu))
    throw Unsupported("this peer runs on one device");
  if (std::ranges::find(peer.dtypes, problem.dtype) == peer.dtypes.end())
    throw Unsupported("no " + std::string(name(problem.dtype)) + " in this variant");
  if (!peer.own) return;
  for (const auto& [key, value] : peer.own->only)
    if (!means_same(problem.parameters.choice(key), value))
      throw Unsupported("a kernel of your own takes " + key + " = " + value + " only");
}

class PeerCase final : public Prepared, public SelfTimed, public Diagnosed {
 public:
  PeerCase(const Peer& peer, PeerHost& host, const Problem& problem, const Context& context)
      : host_(host),
        library_{peer.algorithm, peer.model, peer_threads(context.runtime, context.shards.front().device)},
        own_(peer.own),
        outputs_(context.outputs),
        inputs_(host.inputs_of(problem, free_bytes(context))),
        shared_(outputs_, free_bytes(context)),
        request_({{"call", "prepare"},
                  {"algorithm", peer.algorithm},
                  {"model", peer.model},
                  {"method", peer.method},
                  {"parameters", parameters_of(peer, problem)},
                  {"device", device_of(context)},
                  {"inputs", inputs_->layout()},
                  {"outputs", shared_.layout()}}),
        kind_(context.shards.front().device.kind),
        idle_(problem.extent() == 0) {
    request_["inputs"]["file"] = python::Process::first_file;
    request_["outputs"]["file"] = python::Process::first_file + 1;
    if (own_) request_["own"] = own_->call;
  }

  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("its library chooses the launch");
    if (!process_) {
      if (own_) sanitize();
      start();
    }
    return {};
  }
  [[nodiscard]] Timing timing() const override { return timing_; }
  void upload() override { call("upload"); }
  void reset() override {
    league::poison(outputs_);
    shared_.poison();
    call("reset");
  }
  void compute(Stages&) override { call("compute"); }
  void fence() override { call("fence"); }
  void download() override {
    call("download");
    shared_.copy_to(outputs_);
  }

  std::optional<std::uint64_t> digest() override { return call("digest").digest(); }
  std::optional<std::uint64_t> inspect(int before, std::uint64_t draw) override {
    if (before > 0) {  // as where a sample begins: with a result of these inputs, and after a pause
      reset();
      call("compute");
      call("fence");
    }
    return call(Json{{"call", "inspect"}, {"before", before}, {"draw", std::to_string(draw)}}).digest();
  }

  double seconds(int count, bool warm) override {
    return timed({{"call", "time"}, {"count", count}, {"warm", warm}}, count);
  }
  double latency_s(bool warm) override { return timed({{"call", "latency"}, {"warm", warm}}, 1); }
  void run(int count) override {
    restart();
    call(Json{{"call", "compute"}, {"count", count}});
    call("fence");
  }
  std::map<std::string, double> paces(int pairs, std::uint64_t draw) override {
    return call(Json{{"call", "paces"}, {"pairs", pairs}, {"draw", std::to_string(draw)}}).times("parts");
  }
  std::map<std::string, double> stages() override {
    if (own_) return {};
    return call("stages").times("parts");
  }
  std::map<std::string, double> transfers() override {
    if (own_) return {};
    return call("transfers").times("parts");
  }
  Pass pass(const std::string& memory, PassState state) override {
    if (own_) throw Unsupported("a kernel of your own has no end-to-end time");
    const bool cold = state == PassState::cold;
    const Stopwatch watch;
    const Answer answer = call({{"call", "end_to_end"}, {"memory", memory}, {"cold", cold}});
    const Pass pass{.total_s = answer.seconds(), .parts_s = answer.times("parts")};
    if (!(pass.total_s >= 0 && pass.total_s <= watch.seconds()))
      throw std::runtime_error("it reports " + std::to_string(pass.total_s) + " s for a pass that took at most " +
                               std::to_string(watch.seconds()));
    return pass;
  }
  [[nodiscard]] bool holds() const override { return holds_; }
  void stop() override { process_->stop(); }
  std::string diagnosis() override {
    if (!own_) return {};
    return diagnose(outputs_, [this] {
      Stages stages;
      reset();
      compute(stages);
      fence();
      download();
    });
  }

 private:
  static std::int64_t free_bytes(const Context& context) {
    return context.runtime.free_memory_bytes(context.runtime.host().device) / 10 * 9;
  }
  static Json device_of(const Context& context) {
    const Device device = context.shards.front().device;
    Json indices = Json::array();
    if (!context.world.alone())
      for (const Shard& shard : context.shards) indices.push_back(shard.device.index);
    return {{"kind", name(device.kind)},
            {"index", device.index},
            {"indices", std::move(indices)},
            {"threads", peer_threads(context.runtime, device)},
            {"memory_bytes", context.memory_budget_bytes}};
  }
  void start() {
    if (own_ && !own_->program.empty()) {
      process_ = std::make_unique<python::Process>(host_.interpreter(), start_of(own_->program));
      process_->send(text_of(request_));
    } else {
      process_ = host_.take(library_);
      process_->send(text_of(request_), std::array{inputs_->file(), shared_.file()});
    }
    host_.start_ahead();
    const Answer made = answer();
    timing_.reset_each = made.truth("reset_each");
    reported_.emplace(ReportedTime::Case{kind_, idle_, timing_.reset_each, [this](int count) { return look(count); }});
    std::map<std::string, std::string> forms = made.words("forms");
    for (Output& output : outputs_) output.form = forms[output.name];
  }
  [[nodiscard]] python::Process::Start start_of(const std::vector<std::string>& program) const {
    return {.files = {inputs_->file(), shared_.file()}, .threads = library_.threads, .program = program};
  }
  void sanitize() {
    for (const OwnKernel::Sanitized& one : own_->sanitized)
      require_clean({host_.interpreter(), start_of(one.program), request_, one.name, own_->file, own_->limit_s});
  }
  /// The time that the worker reports for `count` computes. @throws std::runtime_error if it is not plausible
  double timed(const Json& request, int count) {
    for (int attempts_left = 3;; --attempts_left) {  // the load of the machine may have changed between the two clocks
      const Stopwatch watch;
      const Answer answer = call(request);
      const double call_s = watch.seconds();
      holds_ = answer.truth("held", holds_);
      try {
        return reported_->require(answer.seconds(), count, call_s);
      } catch (const ReportedTime::Disagreement&) {
        if (attempts_left == 1) throw;
        restart();
      }
    }
  }
  /// Before a compute that takes its initial state.
  void restart() {
    if (!timing_.reset_each) return;
    call("reset");
    call("fence");
  }
  ReportedTime::Look look(int count) {
    restart();
    const Stopwatch watch;
    call(Json{{"call", "queue"}, {"count", count}});
    const double queued_s = watch.seconds();
    const Answer answer = call("release");
    return {queued_s, watch.seconds() - queued_s, answer.seconds() * count};
  }
  Answer call(const char* what) { return call(Json{{"call", what}}); }
  Answer call(const Json& request) {
    process_->send(text_of(request));
    return answer();
  }
  Answer answer() {
    if (!own_) return Answer(process_->receive(timeout_s));
    try {
      return Answer(process_->receive(own_->limit_s));
    } catch (const python::Process::Silent&) {
      throw std::runtime_error("an endless loop? It has not ended within " + std::to_string(own_->limit_s) + " s");
    }
  }

  PeerHost& host_;
  PeerHost::Library library_;
  std::optional<OwnKernel> own_;
  Outputs& outputs_;
  std::shared_ptr<SharedArrays> inputs_;
  SharedArrays shared_;
  Json request_;  ///< of the call that creates the peer
  std::unique_ptr<python::Process> process_;
  DeviceKind kind_;
  bool idle_;  ///< there are no rows
  Timing timing_;
  std::optional<ReportedTime> reported_;
  bool holds_ = false;
};

}  // namespace

int peer_threads(const Runtime& runtime, Device device) {
  return device.kind == DeviceKind::host ? device.threads : runtime.host_threads();
}

std::unique_ptr<Prepared> prepare_peer(const Peer& peer, PeerHost& host, const Problem& problem,
                                       const Context& context) {
  require(peer, problem, context);
  return std::make_unique<PeerCase>(peer, host, problem, context);
}

}  // namespace league::bench
