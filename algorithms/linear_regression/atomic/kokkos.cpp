// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/kokkos_specialised.hpp"

// A team takes consecutive rows, a lane one of them at a time: first all errors, then an atomic add for each of a row's
// terms.
namespace league::kokkos::linear_regression {
namespace {

constexpr int max_lanes_atomic = 1024;

/// Calls `body(row)` for the rows of a team's lanes.
template <class Body>
KOKKOS_INLINE_FUNCTION void for_rows(const Member& team, int lanes, std::int64_t rows, const Body& body) {
  for (std::int64_t first = std::int64_t{team.league_rank()} * lanes; first < rows;
       first += std::int64_t{team.league_size()} * lanes)
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
      if (first + lane < rows) body(first + lane);
    });
}

template <class T>
void find_errors(const Exec& exec, Launch launch, const Columns<T>& data, const double* theta, T* errors) {
  const int lanes = launch.team * launch.vector;
  Kokkos::parallel_for(
      "linear_regression/errors", policy_of<max_lanes_atomic>(exec, launch), KOKKOS_LAMBDA(const Member& team) {
        for_rows(team, lanes, data.rows, [&](std::int64_t row) { errors[row] = error_of(data, theta, row); });
      });
}

template <class T>
void add_gradient(const Exec& exec, Launch launch, const Columns<T>& data, const T* errors, double* sums) {
  const int lanes = launch.team * launch.vector;
  Kokkos::parallel_for(
      "linear_regression/gradient", policy_of<max_lanes_atomic>(exec, launch), KOKKOS_LAMBDA(const Member& team) {
        for_rows(team, lanes, data.rows, [&](std::int64_t row) {
          add_to_all(data, errors[row], row, [&](int at, double term) { Kokkos::atomic_add(sums + at, term); });
        });
      });
}

/// All rows on the queue's instance; or, for `streams`, each segment's on an instance of its own; instances are ordered
/// by the host. On a host they would run one after another anyway, on one instance.
template <class T>
class Atomic final : public KokkosShard {
 public:
  Atomic(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosShard(problem, context, shard, problem.features),
        rows_(*this, problem),
        segmented_(problem.segments > 1) {
    declare(errors_, "linear_regression/errors", rows().size());
    if (on_gpu && segmented_)
      for (const Exec& exec : Kokkos::Experimental::partition_space(exec_, 1, 1, 1, 1)) streams_.push_back(exec);
  }
  Launch configure(Launch launch) override {
    const bool chosen = launch.league == 0;
    launch_ = resolved(launch, 256, max_lanes_atomic, 1);
    if (on_gpu && chosen)
      launch_.league = league_of(ceil_div<std::int64_t>(rows().size(), launch_.team * launch_.vector));
    return launch_;
  }
  [[nodiscard]] Timing timing() const override { return {.host_clock = segmented_}; }
  void accumulate() const override {
    if (!segmented_) return submit_segment(exec_, rows_.data(), 0);
    queue().submit([exec = exec_] { exec.fence("linear_regression/update"); });
    for (int k = 0; k < problem_.segments; ++k) {
      const Columns<T> data = rows_.data(problem_.segment(k));
      if (data.rows > 0) submit_segment(on_gpu ? streams_[static_cast<std::size_t>(k)] : exec_, data, k);
    }
    queue().submit([streams = streams_] {
      for (const Exec& exec : streams) exec.fence("linear_regression/streams");
    });
  }

 private:
  /// Rows of this shard, whose sums are those of segment `number`.
  void submit_segment(const Exec& exec, const Columns<T>& data, int number) const {
    queue().submit([exec, data, launch = launch_, theta = theta_.data(),
                    errors = errors_.data() + (data.y - rows_.data().y),
                    sums = sums_.data() + number * (rule_.width + 2)] {
      find_errors(exec, launch, data, theta, errors);
      add_gradient(exec, launch, data, errors, sums);
    });
  }

  DeviceRows<T> rows_;
  bool segmented_;
  std::vector<Exec> streams_;
  Array<T> errors_;
  Launch launch_;
};

const RegisterSolve<LinearRegression> atomic{"atomic", model, by_type<Atomic>};
const RegisterSolve<LinearRegression> streams{"streams", model, by_type<Atomic>, {Execution::stream}};

}  // namespace
}  // namespace league::kokkos::linear_regression
