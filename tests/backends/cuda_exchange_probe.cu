// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/wait.hpp"
#include "tests/backends/exchange_probe.hpp"

namespace league::tests {
namespace {

constexpr int block_size = 256;

/// State of one probe, in device memory.
struct State {
  unsigned long long round, wrong;
};

template <class T>
__global__ void fill_values(std::int64_t rounds, std::int64_t size, const State* state, const T* sent, T* values) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  const auto round = static_cast<std::int64_t>(state->round) % rounds;
  if (i < size) values[i] = sent[round * size + i];
}

template <class T>
__global__ void compare_values(std::int64_t rounds, std::int64_t size, Range part, State* state, const T* expected,
                               double tolerance, const T* values) {
  const std::int64_t i = part.begin + std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  const auto round = static_cast<std::int64_t>(state->round) % rounds;
  if (i >= part.end) return;
  const T value = values[i], right = expected[round * size + i];
  const double difference = fabs(static_cast<double>(value) - static_cast<double>(right));
  if (!(value == right || (tolerance > 0 && difference <= tolerance))) atomicAdd(&state->wrong, 1ULL);
}

__global__ void next_round(State* state) { ++state->round; }

template <class T>
class CudaProbe final : public ExchangeProbe {
 public:
  CudaProbe(Queue& queue, const ProbeRounds& rounds)
      : queue_(queue),
        rounds_(rounds.sent.rows()),
        size_(rounds.sent.row_size()),
        tolerance_(rounds.tolerance),
        skew_(rounds.skew),
        sent_(queue, rounds.sent.size()),
        expected_(queue, rounds.sent.size()),
        values_(queue, size_ + skew_),
        state_(queue, 1) {
    sent_.copy_from(rounds.sent.values<const T>());
    expected_.copy_from(rounds.expected.values<const T>());
    values_.poison();
    state_.clear();
    queue_.fence();
  }
  [[nodiscard]] Buffer buffer() override { return buffer_of(values(), size_); }
  void fill() override {
    fill_values<<<blocks(size_), block_size, 0, cuda::stream(queue_)>>>(rounds_, size_, state_.data(), sent_.data(),
                                                                        values());
    cuda::check_launch();
  }
  void compare(Range part) override {
    compare_values<<<blocks(part.size()), block_size, 0, cuda::stream(queue_)>>>(
        rounds_, size_, part, state_.data(), expected_.data(), tolerance_, values());
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
    std::vector<T> host(static_cast<std::size_t>(size_ + skew_));
    values_.copy_to(host);
    queue_.fence();
    return {host.begin() + skew_, host.end()};
  }

 private:
  [[nodiscard]] T* values() const { return values_.data() + skew_; }
  static unsigned blocks(std::int64_t size) {
    return static_cast<unsigned>(size / block_size + 1);  // at least one, even for no values
  }
  Queue& queue_;
  std::int64_t rounds_, size_;
  double tolerance_;
  std::int64_t skew_;
  cuda::Array<T> sent_, expected_, values_;
  cuda::Array<State> state_;
};

/// A thread adds its own number to its shard's term, a different one in every step.
__global__ void add_by_view(DeviceView view, int steps, double mine, double all, unsigned long long* wrong) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= view.capacity) return;
  for (int step = 0; step < steps; ++step) {
    const auto stamp = static_cast<unsigned>(step + 1);
    for (int shard = 0; shard < view.shards; ++shard) {
      cuda::Word* to = view.words[shard] + view.from(view.self, stamp) + i;
      cuda::publish(to, to + view.high(), mine + step + i, stamp);
    }
    double sum = 0;
    for (int shard = 0; shard < view.shards; ++shard) {
      const cuda::Word* slot = view.words[view.self] + view.from(shard, stamp) + i;
      sum += cuda::await(slot, slot + view.high(), stamp);
    }
    if (sum != all + static_cast<double>(view.shards) * (step + i)) atomicAdd(wrong, 1ULL);
  }
}

std::int64_t add_by_views(const std::vector<Queue*>& queues, const std::vector<DeviceView>& views,
                          const std::vector<double>& terms) {
  constexpr int steps = 500;
  double all = 0;
  for (const double term : terms) all += term;
  std::vector<cuda::Array<unsigned long long>> wrong;
  for (Queue* queue : queues) {
    wrong.emplace_back(*queue, 1).clear();
    queue->fence();
  }
  for (std::size_t i = 0; i < queues.size(); ++i) {
    add_by_view<<<1, block_size, 0, cuda::stream(*queues[i])>>>(views[i], steps, terms[i], all, wrong[i].data());
    cuda::check_launch();
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    unsigned long long count = 0;
    wrong[i].copy_to({&count, 1});
    queues[i]->fence();
    sum += static_cast<std::int64_t>(count);
  }
  return sum;
}

const bool known = [] {
  exchange_probe_on_gpu() = [](Queue& queue, const ProbeRounds& rounds) {
    std::unique_ptr<ExchangeProbe> made;
    with_sum_type(rounds.sent.dtype(), [&]<class T>() { made = std::make_unique<CudaProbe<T>>(queue, rounds); });
    return made;
  };
  add_by_views_on_gpu() = add_by_views;
  return true;
}();

}  // namespace
}  // namespace league::tests
