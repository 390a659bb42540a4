// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "algorithms/contract/with_type.hpp"
#include "tests/faults/faults.hpp"

namespace league::faults {
namespace {

template <class Case>
std::unique_ptr<Prepared> wrap(const Site& site) {
  return std::make_unique<Case>(site.prepare());
}

/// Nothing is wrong. Samples are single computes, so that it takes little time.
class Sound final : public Broken {
  using Broken::Broken;
  [[nodiscard]] Timing timing() const override { return {.reset_each = true}; }
};

class WritesNothing final : public Broken {
  using Broken::Broken;
  void compute(Stages&) override {}
};

/// Computes once, and then believes that this was all.
class Stale final : public Broken {
  using Broken::Broken;
  void compute(Stages& stages) override {
    if (!done_) Broken::compute(stages);
    done_ = true;
  }
  bool done_ = false;
};

/// Rank 1 fails in its second compute, while the others wait for it.
class OneRankFails final : public Broken {
 public:
  OneRankFails(std::unique_ptr<Prepared> real, bool fails) : Broken(std::move(real)), fails_(fails) {}
  void compute(Stages& stages) override {
    if (fails_ && ++computes_ == 2) throw std::runtime_error("its memory is full of holes");
    Broken::compute(stages);
  }

 private:
  bool fails_;
  int computes_ = 0;
};

std::unique_ptr<Prepared> one_rank_fails(const Site& site) {
  const Ranks::Place& place = site.context.runtime.ranks().place();
  if (place.alone()) means_nothing("there is one rank");
  return std::make_unique<OneRankFails>(site.prepare(), place.rank == 1);
}

/// The real case on other rows than the harness asked for.
using Rows = std::vector<Shard>;
std::unique_ptr<Prepared> on_rows(const Site& site, void (*change)(Rows&)) {
  if (site.variant.algorithm == "cnn") means_nothing("every shard has all rows, and its number says which it takes");
  const auto rows = std::make_shared<Rows>(site.context.shards.begin(), site.context.shards.end());
  change(*rows);
  Context context = site.context;
  context.shards = *rows;
  return std::make_unique<Broken>(site.variant.prepare(site.problem, context), rows);
}

void drop_last_row(Rows& shards) {
  if (shards.back().rows.size() > 0) --shards.back().rows.end;
}

/// Every shard but for its first row: where one device's rows end and the next one's begin is off by one.
void begin_one_row_late(Rows& shards) {
  for (Shard& shard : shards)
    if (shard.rows.size() > 0) ++shard.rows.begin;
}

bool is_real(const Output& output) {
  return output.values.dtype() == Dtype::f32 || output.values.dtype() == Dtype::f64;
}

/// Spoils the first, the middle and the last value of each result in turn, until the check lets one pass: that one
/// stays. Where it finds them all, the last one stays.
template <class Spoil>
void spoil_in_turn(const Problem& problem, Outputs& outputs, bool only_reals, const Spoil& spoil) {
  const auto passes = [&] { return problem.check_alone(outputs).passed(); };
  std::span<std::byte> spoilt;
  std::vector<std::byte> right;
  for (Output& output : outputs) {
    if (output.values.size() == 0 || (only_reals && !is_real(output))) continue;
    const auto size = static_cast<std::size_t>(output.values.size()), bytes = size_bytes(output.values.dtype());
    for (const std::size_t index : std::set{std::size_t{0}, size / 2, size - 1}) {
      std::ranges::copy(right, spoilt.begin());
      spoilt = output.values.bytes().subspan(index * bytes, bytes);
      right.assign(spoilt.begin(), spoilt.end());
      with_type<float, double, std::int32_t, std::int64_t>(output.values.dtype(), [&]<class T>() {
        const std::span<T> values = output.values.values<T>();
        spoil(values, values[index], passes);
      });
      if (passes()) return;
    }
  }
}

/// The smallest change, up to `max`, that the check does not let pass, to within a fifth; `max` if it lets all pass.
template <class Move, class Passes>
double min_found(double max, const Move& move, const Passes& passes) {
  double low = max * 0x1p-60, high = max;
  while (high > 1.2 * low) {
    const double change = std::sqrt(low * high);
    move(change);
    (passes() ? low : high) = change;
  }
  return high;
}

/// Moves a value away from the exact one by twice its bound b, but not by more than a hundredth of the largest value.
/// The check says what b is: with an error e, it lets the value grow by b - e and shrink by b + e.
template <class T, class Passes>
void move_by_twice_the_bound(std::span<const T> values, T& value, const Passes& passes) {
  const auto right = static_cast<double>(value);
  double max = 0;
  for (const T one : values) max = std::max(max, std::abs(static_cast<double>(one)) / 100);
  const auto grow = [&](double change) { value = static_cast<T>(right + change); };
  const auto shrink = [&](double change) { value = static_cast<T>(right - change); };
  const double up = min_found(max, grow, passes), down = min_found(max, shrink, passes);
  if (up > down)
    grow(std::min(1.5 * up + 0.5 * down, max));
  else
    shrink(std::min(1.5 * down + 0.5 * up, max));
}

/// A real value is off by twice its bound, a whole number by one.
void spoil_values(const Problem& problem, Outputs& outputs) {
  spoil_in_turn(problem, outputs, false, []<class T>(std::span<T> values, T& value, const auto& passes) {
    if constexpr (std::is_integral_v<T>)
      value += value > 0 ? -1 : 1;
    else
      move_by_twice_the_bound<T>(values, value, passes);
  });
}

void spoil_with_nan(const Problem& problem, Outputs& outputs) {
  spoil_in_turn(problem, outputs, true,
                []<class T>(std::span<T>, T& value, const auto&) { value = std::numeric_limits<T>::quiet_NaN(); });
}

std::unique_ptr<Prepared> edited(const Site& site, void (*edit)(const Problem&, Outputs&)) {
  return std::make_unique<Edited>(site.prepare(), site.context.outputs,
                                  [&problem = site.problem, edit](Outputs& outputs) { edit(problem, outputs); });
}

std::unique_ptr<Prepared> off_values(const Site& site) {
  if (site.variant.algorithm == "cnn") means_nothing("a thousand checks would take minutes; its own tests do so");
  return edited(site, spoil_values);
}

std::unique_ptr<Prepared> with_nan(const Site& site) {
  if (std::ranges::none_of(site.context.outputs, is_real)) means_nothing("no result is real");
  return edited(site, spoil_with_nan);
}

/// Takes the first result that has as many values from a solve of one step fewer.
class FewerSteps final : public Broken {
 public:
  explicit FewerSteps(const Site& site)
      : Broken(site.prepare()),
        results_(site.context.outputs),
        fewer_(site.shorter->make_outputs(site.context.world.local_rows(), site.context.runtime.host_memory())),
        shorter_(site.variant.prepare(*site.shorter, site.with(site.context.communicator, fewer_))) {}
  Launch configure(Launch launch) override {
    shorter_->configure(launch);
    return Broken::configure(launch);
  }
  void upload() override { Broken::upload(), shorter_->upload(); }
  void reset() override { Broken::reset(), shorter_->reset(); }
  void compute(Stages& stages) override { Broken::compute(stages), shorter_->compute(stages); }
  void download() override {
    Broken::download(), shorter_->download();
    fence();
    std::size_t at = 0;
    while (fewer_.at(at).values.size() != results_.at(at).values.size()) ++at;
    std::ranges::copy(fewer_.at(at).values.bytes(), results_.at(at).values.bytes().begin());
  }
  void fence() override { Broken::fence(), shorter_->fence(); }

 private:
  Outputs& results_;
  Outputs fewer_;
  std::unique_ptr<Prepared> shorter_;
};

std::unique_ptr<Prepared> one_step_fewer(const Site& site) {
  if (site.shorter == nullptr || site.shorter->cost().operations == site.problem.cost().operations)
    means_nothing("it takes no steps");
  return std::make_unique<FewerSteps>(site);
}

}  // namespace

std::vector<Fault> common_faults() {
  return {{"none", wrap<Sound>},
          {"nothing", wrap<WritesNothing>},
          {"stale", wrap<Stale>},
          {"last_row", [](const Site& site) { return on_rows(site, drop_last_row); }},
          {"shard_offset", [](const Site& site) { return on_rows(site, begin_one_row_late); }},
          {"value", off_values},
          {"nan", with_nan},
          {"one_step_fewer", one_step_fewer},
          {"one_rank_fails", one_rank_fails}};
}

}  // namespace league::faults
