// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/cuda.hpp"
#include "tests/exchange_probe.hpp"

namespace league::tests {
namespace {

constexpr int block_size = 256;

/// What the kernels of one probe share, in device memory.
struct State {
  unsigned long long round, wrong;
};

__global__ void fill_values(std::int64_t rounds, std::int64_t size, const State* state, const double* sent,
                            double* values) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  const auto round = static_cast<std::int64_t>(state->round) % rounds;
  if (i < size) values[i] = sent[round * size + i];
}

__global__ void compare_values(std::int64_t rounds, std::int64_t size, State* state, const double* expected,
                               double tolerance, const double* values) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  const auto round = static_cast<std::int64_t>(state->round) % rounds;
  if (i < size && !(fabs(values[i] - expected[round * size + i]) <= tolerance)) atomicAdd(&state->wrong, 1ULL);
}

__global__ void next_round(State* state) { ++state->round; }

class CudaProbe final : public ExchangeProbe {
 public:
  CudaProbe(Queue& queue, const Rounds& sent, const Rounds& expected, double tolerance)
      : queue_(queue),
        rounds_(sent.count),
        tolerance_(tolerance),
        sent_(queue, sent.count * sent.size),
        expected_(queue, sent.count * sent.size),
        values_(queue, sent.size),
        state_(queue, 1) {
    sent_.copy_from(sent.values);
    expected_.copy_from(expected.values);
    values_.poison();
    state_.clear();
    queue_.fence();
  }
  [[nodiscard]] std::span<double> values() override {
    return {values_.data(), static_cast<std::size_t>(values_.size())};
  }
  void fill() override {
    fill_values<<<blocks(), block_size, 0, cuda::stream(queue_)>>>(rounds_, values_.size(), state_.data(), sent_.data(),
                                                                   values_.data());
    cuda::check_launch();
  }
  void compare() override {
    compare_values<<<blocks(), block_size, 0, cuda::stream(queue_)>>>(rounds_, values_.size(), state_.data(),
                                                                      expected_.data(), tolerance_, values_.data());
    next_round<<<1, 1, 0, cuda::stream(queue_)>>>(state_.data());
    cuda::check_launch();
  }
  [[nodiscard]] std::int64_t wrong() override {
    State state{};
    state_.copy_to({&state, 1});
    queue_.fence();
    return static_cast<std::int64_t>(state.wrong);
  }
  [[nodiscard]] std::vector<double> read() override {
    std::vector<double> host(static_cast<std::size_t>(values_.size()));
    values_.copy_to(host);
    queue_.fence();
    return host;
  }

 private:
  [[nodiscard]] unsigned blocks() const {
    return static_cast<unsigned>(values_.size() / block_size + 1);  // at least one, of no values too
  }
  Queue& queue_;
  std::int64_t rounds_;
  double tolerance_;
  cuda::Array<double> sent_, expected_, values_;
  cuda::Array<State> state_;
};

const bool known = [] {
  exchange_probe_on_gpu() = [](Queue& queue, const Rounds& sent, const Rounds& expected,
                               double tolerance) -> std::unique_ptr<ExchangeProbe> {
    return std::make_unique<CudaProbe>(queue, sent, expected, tolerance);
  };
  return true;
}();

}  // namespace
}  // namespace league::tests
