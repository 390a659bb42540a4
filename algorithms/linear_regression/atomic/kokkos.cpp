// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/kokkos.hpp"

#include "algorithms/blocks/share_kokkos.hpp"

// A lane takes its share of the rows, one at a time: first all errors, then an atomic add for each of a row's terms.
namespace league::kokkos::linear_regression {
namespace {

constexpr int max_lanes = 1024;
/// `depth`: instances that the segments of `streams` are submitted to in turn.
constexpr Numbers numbers =
    blocks::by_kind({.tile = 1, .depth = LinearRegression::max_segments, .team = 256, .teams = 2},
                    {.tile = 1024, .depth = 1, .team = 1});

/// Rows of this shard, and where their sums go.
template <class T>
struct Rows {
  Vector<const T> x[LinearRegression::max_features], y;
  Values<T> errors;
  Values<double> theta, sums;
  int features;
  std::int64_t rows;

  Rows(const Columns<T>& data, const Values<T>& their_errors, const State& state, const Values<double>& their_sums)
      : y(data.y, static_cast<std::size_t>(data.rows)),
        errors(their_errors),
        theta(state.theta, static_cast<std::size_t>(data.features) + 1),
        sums(their_sums),
        features(data.features),
        rows(data.rows) {
    for (int f = 0; f < features; ++f) x[f] = Vector<const T>(data.x[f], y.extent(0));
  }
};

/// Calls `body(row)` for the rows of a team.
template <class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_rows(const Member& team, std::int64_t rows, int lanes, const Body& body) {
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
    const auto mine =
        blocks::share(std::int64_t{team.league_rank()} * lanes + lane, std::int64_t{team.league_size()} * lanes, rows);
    for (std::int64_t row = mine.first; row < mine.end; row += mine.stride) body(row);
  });
}

template <class T>
struct FindErrors {
  Rows<T> of;
  int lanes;  ///< of a team
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    for_rows(team, of.rows, lanes, [&](std::int64_t row) {
      T error = static_cast<T>(of.theta(of.features)) - of.y(row);
      for (int f = 0; f < of.features; ++f) error += static_cast<T>(of.theta(f)) * of.x[f](row);
      of.errors(row) = error;
    });
  }
};

template <class T>
struct AddGradient {
  Rows<T> of;
  int lanes;  ///< of a team
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    for_rows(team, of.rows, lanes, [&](std::int64_t row) {
      const auto error = static_cast<double>(of.errors(row));
      for (int f = 0; f < of.features; ++f) Kokkos::atomic_add(&of.sums(f), error * static_cast<double>(of.x[f](row)));
      Kokkos::atomic_add(&of.sums(of.features), error);
      Kokkos::atomic_add(&of.sums(of.features + 1), error * error);
    });
  }
};

/// All rows on the queue's instance; or, for `streams`, each segment's on one of several instances, which are ordered
/// by the host.
template <class T>
class Atomic final : public KokkosShard {
 public:
  Atomic(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard, problem.features),
        rows_(*this, problem),
        segmented_(problem.segments > 1) {
    declare(errors_, "linear_regression/errors", rows().size());
    if (segmented_) streams_ = Kokkos::Experimental::partition_space(exec_, std::vector<int>(numbers.depth, 1));
  }
  Launch configure(Launch launch) override {
    const bool chosen = launch.league > 0;
    launch_ = planned(launch, numbers, max_lanes, 1, [](int) { return true; });
    const int lanes = launch_.team * launch_.vector;
    if (!chosen) launch_.league = league_of(ceil_div<std::int64_t>(rows().size(), lanes * numbers.tile));
    return launch_;
  }
  [[nodiscard]] Timing timing() const override { return {.host_clock = segmented_}; }
  void accumulate() const override {
    if (!segmented_) return submit_segment(exec_, rows_.here(), 0);
    queue().submit([exec = exec_] { exec.fence("linear_regression/update"); });
    for (int k = 0; k < problem_.segments; ++k) {
      const Columns<T> data = rows_.here(problem_.segment(k));
      if (data.rows > 0) submit_segment(streams_[static_cast<std::size_t>(k) % streams_.size()], data, k);
    }
    queue().submit([streams = streams_] {
      for (const Exec& exec : streams) exec.fence("linear_regression/streams");
    });
  }

 private:
  /// Rows of this shard, whose sums are those of segment `number`.
  void submit_segment(const Exec& exec, const Columns<T>& data, int number) const {
    const std::int64_t first = data.y - rows_.here().y, sums = number * (rule_.width + 2);
    const Rows<T> of(data, Kokkos::subview(errors_.view(), std::pair(first, first + data.rows)), state(),
                     Kokkos::subview(sums_.view(), std::pair(sums, sums + data.features + 2)));
    const int lanes = launch_.team * launch_.vector;
    submit(queue(), "linear_regression/errors", policy_of<max_lanes>(exec, launch_), FindErrors<T>{of, lanes});
    submit(queue(), "linear_regression/gradient", policy_of<max_lanes>(exec, launch_), AddGradient<T>{of, lanes});
  }

  DeviceRows<T> rows_;
  bool segmented_;
  std::vector<Exec> streams_;
  Array<T> errors_;
  Launch launch_;
};

WrittenModel once() {
  return written_once<float, double>(model, []<class T>(Of<T>) { return blocks::named(numbers); });
}

const RegisterSolve<LinearRegression> atomic{"atomic", once(), by_type<Atomic>};
const RegisterSolve<LinearRegression> streams{"streams", once(), by_type<Atomic>, {Execution::stream}};

}  // namespace
}  // namespace league::kokkos::linear_regression
