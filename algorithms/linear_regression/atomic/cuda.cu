// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/cuda.hpp"

// A block takes consecutive rows, a thread one of them at a time: first all errors, then an atomic add for each of a
// row's terms.
namespace league::cuda::linear_regression {
namespace {

/// Calls `body(row)` for the rows of this thread.
template <class Body>
__device__ void for_rows(std::int64_t rows, const Body& body) {
  const Place place = place_of_thread();
  for (std::int64_t row = place.team * place.lanes + place.lane; row < rows; row += place.teams * place.lanes)
    body(row);
}

template <class T>
__global__ void find_errors(Columns<T> data, const double* theta, T* errors) {
  for_rows(data.rows, [&](std::int64_t row) { errors[row] = error_of(data, theta, row); });
}

template <class T>
__global__ void add_gradient(Columns<T> data, const T* errors, double* sums) {
  for_rows(data.rows, [&](std::int64_t row) {
    add_to_all(data, errors[row], row, [&](int at, double term) { atomicAdd(sums + at, term); });
  });
}

/// A stream, and when it is done.
struct Branch {
  explicit Branch(Queue& queue) {
    cuda::stream(queue);
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  }
  Branch(const Branch&) = delete;
  Branch& operator=(const Branch&) = delete;
  ~Branch() {
    static_cast<void>(cudaStreamDestroy(stream));
    static_cast<void>(cudaEventDestroy(done));
  }
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;
};

/// All rows on the queue; or, for `streams`, each segment's on a stream of its own, between two events: behind the last
/// update, before the next.
template <class T>
class Atomic final : public CudaShard {
 public:
  Atomic(const LinearRegression& problem, const Context& context, const Shard& shard)
      : CudaShard(problem, context, shard, problem.features), rows_(*this, problem) {
    declare(errors_, "linear_regression/errors", rows().size());
    if (problem.segments == 1) return;
    main_ = std::make_unique<Branch>(queue());
    for (int k = 0; k < problem.segments; ++k) branches_.push_back(std::make_unique<Branch>(queue()));
  }
  Launch configure(Launch launch) override {
    const bool chosen = launch.league == 0;
    launch_ = resolved(launch, 256, limits.team_times_vector, 1);
    if (chosen) launch_.league = league_of(ceil_div<std::int64_t>(rows().size(), launch_.team * launch_.vector));
    return launch_;
  }
  void accumulate() const override {
    const cudaStream_t main = stream(queue());
    if (branches_.empty()) return add_segment(main, rows_.here(), 0);
    check(cudaEventRecord(main_->done, main));
    for (int k = 0; k < problem_.segments; ++k) {
      const Branch& branch = *branches_[static_cast<std::size_t>(k)];
      const Columns<T> data = rows_.here(problem_.segment(k));
      if (data.rows == 0) continue;
      check(cudaStreamWaitEvent(branch.stream, main_->done, 0));
      add_segment(branch.stream, data, k);
      check(cudaEventRecord(branch.done, branch.stream));
      check(cudaStreamWaitEvent(main, branch.done, 0));
    }
  }

 private:
  /// Rows of this shard, whose sums are those of segment `number`.
  void add_segment(cudaStream_t on, const Columns<T>& data, int number) const {
    T* errors = errors_.data() + (data.y - rows_.here().y);
    double* sums = sums_.data() + number * (rule_.width + 2);
    find_errors<<<grid(launch_), block(launch_), 0, on>>>(data, theta_.data(), errors);
    add_gradient<<<grid(launch_), block(launch_), 0, on>>>(data, errors, sums);
    check_launch();
  }

  DeviceRows<T> rows_;
  Array<T> errors_;
  Launch launch_;
  std::unique_ptr<Branch> main_;
  std::vector<std::unique_ptr<Branch>> branches_;
};

const RegisterSolve<LinearRegression> atomic{"atomic", model, by_type<Atomic>};
const RegisterSolve<LinearRegression> streams{"streams", model, by_type<Atomic>};

}  // namespace
}  // namespace league::cuda::linear_regression
