// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/inspector.hpp"

#include <algorithm>
#include <stdexcept>

#include "algorithms/contract/altered.hpp"
#include "backends/host_memory.hpp"
#include "backends/model.hpp"
#include "bench/measure/difference.hpp"
#include "bench/ranks/gathered.hpp"

namespace league::bench {
namespace {

constexpr int own_trials = 4;      // of a case; one of a large one
constexpr int own_results = 2;     // of a large case that are looked at
constexpr int foreign_trials = 5;  // at each chosen sample; two of a case whose computes are long
constexpr std::size_t large_bytes = std::size_t{8} << 20;
constexpr double large_s = 1e-3;
constexpr int most_judged = 3, most_foreign = 16;  // results of a case whose bits differ from those judged before
constexpr int most_levels = 4;                     // of draws, until altered inputs change the result
constexpr int pairs = 8, few_pairs = 2;            // of computes whose times are compared; few where they are long
constexpr double slower = 1.5, least_s = 20e-6;    // how much longer a compute may take on altered inputs
constexpr int paces = 5;                           // comparisons in a row that must say so

/// The digest of what a case holds, over all ranks. `digest`: of its results where they lie, if that is known.
std::uint64_t digest_of(PreparedCase& prepared_case, std::optional<std::uint64_t> digest) {
  if (!digest) {
    prepared_case.prepared().download();
    prepared_case.prepared().fence();
    digest = 0;
    for (const Output& output : prepared_case.outputs()) *digest = *digest * 3 + league::digest(output.values.bytes());
  }
  RankReduce reduce(prepared_case.runtime().ranks());
  return static_cast<std::uint64_t>(reduce.sum_of(static_cast<std::int64_t>(*digest)));
}

std::uint64_t digest_of(PreparedCase& prepared_case) {
  return digest_of(prepared_case, prepared_case.prepared().digest());
}

/// As `SelfTimed::inspect`, for variants of this process. `poison`: of `prepared_case`.
std::optional<std::uint64_t> inspect_here(PreparedCase& prepared_case, void (Prepared::*poison)(), int before,
                                          std::uint64_t draw) {
  Prepared& prepared = prepared_case.prepared();
  Stages stages;
  (prepared.*poison)();
  prepared.fence();
  if (before > 0) prepared.compute(stages);  // as before a sample
  prepared.fence();
  for (int i = 0; i < before; ++i) prepared.compute(stages);
  if (draw == 0 && before > 0) (prepared.*poison)();
  if (draw != 0 && !prepared.alter(draw)) return {};
  prepared.compute(stages);
  prepared.fence();
  const std::uint64_t digest = digest_of(prepared_case);
  if (draw != 0) prepared.restore(draw);
  prepared.fence();
  return digest;
}

/// Whether values of an input that are exchanged for others of it change the problem.
bool varies(const Problem& problem) {
  return std::ranges::any_of(problem.inputs(), [](const Output& input) {
    constexpr std::ptrdiff_t some = 1024;
    const auto bytes = input.values.bytes();
    return std::ssize(bytes) >= some && std::ranges::adjacent_find(bytes, std::ranges::not_equal_to()) != bytes.end();
  });
}

/// Whether to look at a case takes as long as to sample it.
bool is_large(const PreparedCase& prepared_case, const Meter& meter) {
  std::size_t bytes = 0;
  for (const Output& output : prepared_case.outputs()) bytes += output.values.bytes().size();
  return bytes > large_bytes || meter.expected_s() > large_s;
}

}  // namespace

/// One of the samples 1, 2-3, 4-7, 8-15 and so on each, so that short and long runs have some.
bool Inspector::is_chosen() {
  ++samples_;
  if (samples_ == 1 || (samples_ & (samples_ - 1)) == 0)
    next_ = samples_ + static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(samples_));
  return samples_ == next_;
}

std::uint64_t Inspector::draw() { return random_bits(seed_, 0, draws_++); }

bool Inspector::is_right(std::uint64_t digest) const { return std::ranges::find(right_, digest) != right_.end(); }

std::optional<std::uint64_t> Inspector::inspect(PreparedCase& prepared_case, int before, std::uint64_t draw) const {
  auto* const elsewhere = dynamic_cast<SelfTimed*>(&prepared_case.prepared());
  if (elsewhere != nullptr) return elsewhere->inspect(before, draw);
  return inspect_here(prepared_case, in_place_ ? &Prepared::poison : &Prepared::reset, before, draw);
}

Outputs Inspector::results_of(PreparedCase& prepared_case, int before, std::uint64_t draw) const {
  static_cast<void>(inspect(prepared_case, before, draw));
  prepared_case.prepared().download();
  prepared_case.prepared().fence();
  return copies(prepared_case.outputs());
}

Inspector::Inspector(PreparedCase& prepared_case, std::uint64_t seed)
    : seed_(seed), is_foreign_(model_facts(prepared_case.of().model) == nullptr), in_place_(false) {
  const std::optional<std::uint64_t> digest = prepared_case.prepared().digest();
  in_place_ = digest.has_value();
  right_ = {digest_of(prepared_case, digest)};
}

double Inspector::sample(PreparedCase& prepared_case, Meter& meter, int batch, const std::function<void()>& sampled) {
  const bool is_enough = !is_foreign_ && done_.results >= own_results && is_large(prepared_case, meter);
  const auto timed = [&] {
    const double seconds = meter.sample(batch);
    sampled();
    return seconds;
  };
  if (!is_chosen() || is_enough) return timed();
  try_out(prepared_case, meter, batch, 1);
  if (meter.repeats() && !meter.is_long()) {
    in_place_ ? prepared_case.prepared().poison() : prepared_case.prepared().reset();
    prepared_case.prepared().fence();
  }
  const double seconds = timed();
  judge_left(prepared_case);
  return seconds;
}

void Inspector::finish(PreparedCase& prepared_case, Meter& meter, int batch) {
  try_out(prepared_case, meter, batch, own_trials);
  if (is_foreign_) compare_paces(prepared_case, meter);
}

void Inspector::judge_left(PreparedCase& prepared_case) {
  const std::uint64_t digest = digest_of(prepared_case);
  ++done_.results;
  if (is_right(digest) || judged_ == (is_foreign_ ? most_foreign : most_judged)) return;
  ++judged_;
  const Checked left = check_left(prepared_case);
  if (!left.verdict.passed()) throw std::runtime_error("wrong in a timed compute: " + fault_of(left.verdict));
  right_.push_back(digest);
}

void Inspector::try_out(PreparedCase& prepared_case, const Meter& meter, int batch, int own) {
  const bool is_costly = meter.is_long() || !meter.repeats();
  if (is_costly && (!is_foreign_ || is_very_long(meter.expected_s()))) return;
  const int own_limit = std::min(own, (is_large(prepared_case, meter) ? 1 : own_trials) - trials_);
  const int trials = is_costly ? 2 - trials_ : is_foreign_ ? foreign_trials : own_limit;
  for (int i = 0; i < trials; ++i, ++trials_) {
    const int before = 1 + static_cast<int>(draw() % static_cast<std::uint64_t>(std::max(batch, 1)));
    if ((static_cast<std::uint64_t>(trials_) + seed_) % 2 == 0 && alters_)
      try_altered(prepared_case, meter.repeats() ? before : 1);
    else
      try_poisoned(prepared_case, meter.repeats() ? before : 1);
  }
}

void Inspector::try_poisoned(PreparedCase& prepared_case, int before) {
  const auto digest = inspect(prepared_case, before, 0);
  if (!digest) return;
  ++done_.poisoned;
  if (is_right(*digest)) return;
  const Checked left = check_left(prepared_case);
  if (!left.verdict.passed())
    throw std::runtime_error("wrong in a compute whose outputs were poisoned just before: " + fault_of(left.verdict));
  if (judged_ < most_judged) right_.push_back(*digest);
  ++judged_;
}

void Inspector::try_altered(PreparedCase& prepared_case, int before) {
  std::optional<std::uint64_t> expected;
  for (int level = 0; level < most_levels; ++level) {
    const std::uint64_t drawn = draw_of(draw(), level);
    expected = inspect(prepared_case, 0, drawn);
    if (!expected) break;
    if (is_right(*expected)) continue;  // these values change nothing
    const auto found = inspect(prepared_case, before, drawn);
    ++done_.altered;
    if (found == expected) return;
    const Outputs old = results_of(prepared_case, 0, 0), fresh = results_of(prepared_case, 0, drawn),
                  again = results_of(prepared_case, 0, drawn), left = results_of(prepared_case, before, drawn);
    const double change = difference(old, fresh), noise = difference(fresh, again), off = difference(left, fresh);
    if (change <= 10 * noise) continue;  // no result is twice the same, and these values change less than that
    if (off <= change / 2) return;
    throw std::runtime_error(
        "it does not compute each time: with inputs that were altered just before, its result is not theirs"
        " (as far from it as " +
        std::to_string(off / change) + " of the change)");
  }
  if (done_.altered > 0) return;
  alters_ = false;  // inputs that cannot be altered in place; or a variant that prepares them in `upload`
  if (expected && is_foreign_ && varies(prepared_case.problem()))
    throw std::runtime_error("it does not compute each time: with other inputs it left the same result");
}

void Inspector::compare_paces(PreparedCase& prepared_case, const Meter& meter) {
  auto* const elsewhere = dynamic_cast<SelfTimed*>(&prepared_case.prepared());
  if (elsewhere == nullptr || !meter.repeats() || is_very_long(meter.expected_s())) return;
  std::map<std::string, double> found;
  for (int left = paces; left > 0; --left) {
    found = elsewhere->paces(meter.is_long() ? few_pairs : pairs, draw_of(draw(), 0));
    if (found.empty() || found["altered"] <= std::max(slower * found["same"], found["same"] + least_s)) return;
  }
  throw std::runtime_error("it keeps its results: a compute takes " + std::to_string(found["altered"] * 1e6) +
                           " us on inputs that were altered just before, and " + std::to_string(found["same"] * 1e6) +
                           " us on those of the compute before");
}

}  // namespace league::bench
