// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/case_end_to_end.hpp"

#include <algorithm>
#include <optional>

#include "bench/measure/clock.hpp"
#include "bench/measure/self_timed.hpp"
#include "bench/measure/shared_problem.hpp"
#include "bench/study/models.hpp"

namespace league::bench {
namespace {

constexpr const char* on_host = "host";

/// Why no pass of a case can be timed; empty if one can.
std::string why_none(const Case& that, const Timing& timing) {
  if (that.ranks > 1) return "end-to-end times are taken in runs of one process";
  const auto warm_up = that.parameters.values.find("warm_up");
  if (warm_up != that.parameters.values.end() && warm_up->second != "0")
    return "untimed steps come first: set `warm_up = 0`";
  if (timing.reset_each) return "its computes start from a state that is set before, or copy between host and device";
  return {};
}

std::vector<EndToEnd> none(const std::string& reason) {
  return {{.memory = on_host, .state = PassState::warm, .passes = {}, .reason = reason}};
}

/// Passes of a case; a cold one prepares it anew.
class Passes {
 public:
  Passes(const Case& that, const Problem& problem, Runtime& runtime, std::int64_t budget_bytes,
         std::pmr::memory_resource& memory)
      : case_(that), problem_(problem), runtime_(runtime), budget_bytes_(budget_bytes), memory_(memory) {}

  Pass take(PassState state) { return state == PassState::cold ? cold() : warm(); }
  [[nodiscard]] PreparedCase& prepared_case() { return *prepared_case_; }

 private:
  [[nodiscard]] bool copies() const { return device_kind(case_) == DeviceKind::gpu; }

  Pass cold() {
    prepared_case_.reset();
    prepared_case_.emplace(case_, problem_, runtime_, budget_bytes_, Preparation{.results = &memory_});
    Prepared& prepared = prepared_case_->prepared();
    if (const std::string reason = why_none(case_, prepared.timing()); !reason.empty()) {
      prepared_case_.reset();
      throw Unsupported(reason);
    }
    if (copies()) {  // on a host, results are in memory that nothing has touched
      prepared.reset();
      prepared.fence();
    }
    Pass pass;
    const auto add = [&pass](const char* part, double seconds) { pass.total_s += pass.parts_s[part] = seconds; };
    add("allocation", prepared_case_->allocation_s());
    if (copies()) add("upload", prepared_case_->upload_s());
    finish(pass, Stopwatch());
    return pass;
  }

  Pass warm() {
    if (!prepared_case_) static_cast<void>(cold());
    Pass pass;
    const Stopwatch watch;
    if (copies()) {
      prepared_case_->prepared().upload();
      prepared_case_->prepared().fence();
      pass.parts_s["upload"] = watch.seconds();
    }
    finish(pass, watch);
    return pass;
  }

  /// Computes and downloads; `watch` has run since the part that is not in the total yet began.
  void finish(Pass& pass, const Stopwatch& watch) {
    Prepared& prepared = prepared_case_->prepared();
    Stages stages;
    pass.parts_s["compute"] = seconds_of([&] {
      prepared.compute(stages);
      prepared.fence();
    });
    if (copies())
      pass.parts_s["download"] = seconds_of([&] {
        prepared.download();
        prepared.fence();
      });
    pass.total_s += watch.seconds();
  }

  const Case& case_;
  const Problem& problem_;
  Runtime& runtime_;
  std::int64_t budget_bytes_;
  std::pmr::memory_resource& memory_;
  std::optional<PreparedCase> prepared_case_;
};

/// The kinds of memory to measure in: on a host there is one.
std::vector<std::string> memories_of(const Case& that) {
  if (device_kind(that) == DeviceKind::host) return {on_host};
  std::vector<std::string> names;
  for (const HostMemory memory : that.end_to_end) names.emplace_back(name(memory));
  return names;
}

int samples_of(const Case& that) { return that.precision ? Case{}.samples : that.samples; }

bool took_any(const std::vector<EndToEnd>& found) {
  return std::ranges::any_of(found, [](const EndToEnd& one) { return !one.passes.empty(); });
}

}  // namespace

std::vector<EndToEnd> EndToEndTimes::of_peer(PreparedCase& prepared_case, const std::function<void()>& check_interrupt,
                                             const Check& check) {
  const Case& that = prepared_case.of();
  auto& peer = dynamic_cast<SelfTimed&>(prepared_case.prepared());
  if (const std::string reason = why_none(that, prepared_case.prepared().timing()); !reason.empty())
    return none(reason);
  std::vector<EndToEnd> all;
  for (const std::string& memory : memories_of(that)) {
    const auto found = take_passes(memory, samples_of(that), [&](PassState state) {
      check_interrupt();
      return peer.pass(memory, state);
    });
    if (took_any(found)) check(prepared_case);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

std::vector<EndToEnd> EndToEndTimes::of_case(const Case& that, std::int64_t memory_budget_bytes,
                                             const std::function<void()>& check_interrupt, const Check& check) {
  if (that.ranks > 1) return none(why_none(that, {}));
  std::vector<EndToEnd> all;
  for (const std::string& memory : memories_of(that)) {
    const bool ordinary = memory == name(HostMemory::pageable);
    std::pmr::memory_resource& resource = ordinary ? *std::pmr::new_delete_resource() : runtime_.host_memory();
    Passes passes(that, ordinary ? pageable(that) : problem_, runtime_, memory_budget_bytes, resource);
    const auto found = take_passes(memory, samples_of(that), [&](PassState state) {
      check_interrupt();
      return passes.take(state);
    });
    if (took_any(found)) check(passes.prepared_case());
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

const Problem& EndToEndTimes::pageable(const Case& that) {
  if (!pageable_) pageable_ = make_problem(that, runtime_, datasets_, *std::pmr::new_delete_resource());
  return *pageable_;
}

}  // namespace league::bench
