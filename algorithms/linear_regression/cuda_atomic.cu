// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>

#include "algorithms/linear_regression/cuda_part.hpp"

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

template <class T>
class Atomic : public CudaPart<T> {
 public:
  Atomic(const LinearRegression& problem, const Context& context, const Shard& shard)
      : CudaPart<T>(problem, context, shard, problem.features, shard.rows.size() * std::int64_t{sizeof(T)}),
        errors_(this->queue(), this->rows().size()) {}
  Launch configure(Launch launch) override {
    const bool chosen = launch.league == 0;
    launch_ = this->resolved(launch, 256, limits.team_times_vector, 1);
    if (chosen) launch_.league = league_of(ceil_div<std::int64_t>(this->rows().size(), launch_.team * launch_.vector));
    return launch_;
  }
  void accumulate() override { add_segment(stream(this->queue()), this->data(), 0); }

 protected:
  /// Rows of this shard, whose sums are those of segment `number`.
  void add_segment(cudaStream_t on, const Columns<T>& data, int number) {
    T* errors = errors_.data() + (data.y - this->data().y);
    double* sums = this->sums_.data() + number * (this->rule_.width + 2);
    find_errors<<<this->grid(launch_), this->block(launch_), 0, on>>>(data, this->theta_.data(), errors);
    add_gradient<<<this->grid(launch_), this->block(launch_), 0, on>>>(data, errors, sums);
    check_launch();
  }

 private:
  Launch launch_;
  Array<T> errors_;
};

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

/// Each segment's rows on a stream of its own, between two events: behind the last update, before the next.
template <class T>
class Streams final : public Atomic<T> {
 public:
  Streams(const LinearRegression& problem, const Context& context, const Shard& shard)
      : Atomic<T>(problem, context, shard), main_(this->queue()) {
    for (auto& branch : branches_) branch = std::make_unique<Branch>(this->queue());
  }
  void accumulate() override {
    check(cudaEventRecord(main_.done, stream(this->queue())));
    for (int k = 0; k < this->problem_.segments; ++k) {
      const Branch& branch = *branches_[static_cast<std::size_t>(k)];
      const Columns<T> data = this->data(this->problem_.segment(k));
      if (data.rows == 0) continue;
      check(cudaStreamWaitEvent(branch.stream, main_.done, 0));
      this->add_segment(branch.stream, data, k);
      check(cudaEventRecord(branch.done, branch.stream));
      check(cudaStreamWaitEvent(stream(this->queue()), branch.done, 0));
    }
  }

 private:
  Branch main_;
  std::array<std::unique_ptr<Branch>, LinearRegression::most_segments> branches_;
};

template <template <class> class P>
std::unique_ptr<Prepared> prepare(const LinearRegression& problem, const Context& context) {
  return with_type<float, double>(
      problem.dtype, [&]<class T>() { return solve<P<T>>(problem, context, problem.steps, Execution::stepwise); });
}

const Register<LinearRegression> atomic{"atomic", cuda::model, prepare<Atomic>};
const Register<LinearRegression> streams{"streams", cuda::model, prepare<Streams>};

}  // namespace
}  // namespace league::cuda::linear_regression
