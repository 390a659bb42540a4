// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/kokkos_part.hpp"

// A team takes consecutive rows, a lane one of them at a time: first all errors, then an atomic add for each of a row's
// terms.
namespace league::kokkos::linear_regression {
namespace {

constexpr int most_lanes_atomic = 1024;

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
      "linear_regression/errors", policy_of<most_lanes_atomic>(exec, launch), KOKKOS_LAMBDA(const Member& team) {
        for_rows(team, lanes, data.rows, [&](std::int64_t row) { errors[row] = error_of(data, theta, row); });
      });
}

template <class T>
void add_gradient(const Exec& exec, Launch launch, const Columns<T>& data, const T* errors, double* sums) {
  const int lanes = launch.team * launch.vector;
  Kokkos::parallel_for(
      "linear_regression/gradient", policy_of<most_lanes_atomic>(exec, launch), KOKKOS_LAMBDA(const Member& team) {
        for_rows(team, lanes, data.rows, [&](std::int64_t row) {
          add_to_all(data, errors[row], row, [&](int at, double term) { Kokkos::atomic_add(sums + at, term); });
        });
      });
}

template <class T>
class Atomic : public KokkosPart<T> {
 public:
  Atomic(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosPart<T>(problem, context, shard, problem.features, shard.rows.size() * std::int64_t{sizeof(T)}),
        errors_(this->exec_, "linear_regression/errors", this->rows().size()) {}
  Launch configure(Launch launch) override {
    const bool chosen = launch.league == 0;
    launch_ = this->resolved(launch, 256, most_lanes_atomic, 1);
    if (on_gpu && chosen)
      launch_.league = league_of(ceil_div<std::int64_t>(this->rows().size(), launch_.team * launch_.vector));
    return launch_;
  }
  void accumulate() override { add_segment(this->exec_, this->data(), 0); }

 protected:
  /// Rows of this shard, whose sums are those of segment `number`.
  void add_segment(const Exec& exec, const Columns<T>& data, int number) {
    T* errors = errors_.data() + (data.y - this->data().y);
    find_errors(exec, launch_, data, this->theta_.data(), errors);
    add_gradient(exec, launch_, data, errors, this->sums_.data() + number * (this->rule_.width + 2));
  }

 private:
  Launch launch_;
  Array<T> errors_;
};

/// Each segment's rows on an instance of its own; instances are ordered by the host. On a host they would run one after
/// another anyway, on one instance.
template <class T>
class Streams final : public Atomic<T> {
 public:
  Streams(const LinearRegression& problem, const Context& context, const Shard& shard)
      : Atomic<T>(problem, context, shard) {
    if (on_gpu)
      for (const Exec& exec : Kokkos::Experimental::partition_space(this->exec_, 1, 1, 1, 1)) streams_.push_back(exec);
  }
  [[nodiscard]] Timing timing() const override { return {.host_clock = true}; }
  void accumulate() override {
    this->exec_.fence("linear_regression/update");
    for (int k = 0; k < this->problem_.segments; ++k) {
      const Columns<T> data = this->data(this->problem_.segment(k));
      if (data.rows > 0) this->add_segment(on_gpu ? streams_[static_cast<std::size_t>(k)] : this->exec_, data, k);
    }
    for (const Exec& exec : streams_) exec.fence("linear_regression/streams");
  }

 private:
  std::vector<Exec> streams_;
};

template <template <class> class P>
std::unique_ptr<Prepared> prepare(const LinearRegression& problem, const Context& context) {
  return with_type<float, double>(
      problem.dtype, [&]<class T>() { return solve<P<T>>(problem, context, problem.steps, Execution::stepwise); });
}

const Register<LinearRegression> atomic{"atomic", kokkos::model, prepare<Atomic>};
const Register<LinearRegression> streams{"streams", kokkos::model, prepare<Streams>};

}  // namespace
}  // namespace league::kokkos::linear_regression
