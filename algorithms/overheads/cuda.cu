// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/blocks/sums_cuda.hpp"
#include "algorithms/overheads/rounds.hpp"
#include "backends/cuda/cuda.hpp"

// One thread of a block counts; in a reduction all its threads add, and all get the sum.
namespace league::cuda::overheads {
namespace {

using namespace league::overheads;

constexpr int max_block_lanes = 256, barrier_blocks = 8;  // of a multiprocessor

__global__ void __launch_bounds__(max_block_lanes) count_repeat(double* count, int repeats) {
  if (threadIdx.x != 0 || threadIdx.y != 0) return;
  count[blockIdx.x] = next_count(count[blockIdx.x], repeats);
}

__global__ void use_memory(double* memory, std::int64_t words, int allocations, std::int64_t rows, double* count) {
  volatile double& last = memory[words - 1];
  last = allocations;
  for (std::int64_t row = 0; row < rows; ++row) count[row] = last;
}

template <class T>
__global__ void __launch_bounds__(max_block_lanes) add_over_blocks(double* count, int repeats) {
  extern __shared__ double scratch[];
  const auto block = blocks::block_group();
  T sum = 0;
  for (int round = 0; round < repeats; ++round) {
    const blocks::Sums<T, 1> mine{{share_of(block.rank, block.size, round, sum)}};
    sum = static_cast<T>(blocks::sums_for_all(mine, scratch, round).values[0]);
  }
  if (block.rank == 0) count[blockIdx.x] = static_cast<double>(sum);
}

template <class T>
__global__ void __launch_bounds__(max_block_lanes) add_over_lanes(double* count, int repeats) {
  const int lane = static_cast<int>(threadIdx.x), lanes = static_cast<int>(blockDim.x);
  T sum = 0;
  for (int round = 0; round < repeats; ++round) sum = blocks::lanes_sum(share_of(lane, lanes, round, sum), lanes);
  if (lane == 0 && threadIdx.y == 0) count[blockIdx.x] = static_cast<double>(sum);
}

__global__ void __launch_bounds__(max_block_lanes, launch_bound(barrier_blocks))
    pass_barriers(double* count, double* sent, unsigned* word, int repeats) {
  const bool first = blocks::block_group().rank == 0;
  double mine = 0;
  for (int round = 0; round < repeats; ++round) {
    double* of_round = sent + (round & 1) * gridDim.x;
    if (first) of_round[blockIdx.x] = mine + 1;
    blocks::league_barrier(word);
    mine = of_round[blockIdx.x + 1 < gridDim.x ? blockIdx.x + 1 : 0];
  }
  if (first) count[blockIdx.x] = mine;
}

class CudaShard : public RoundShard {
 public:
  CudaShard(const Overheads& problem, const Context& context, const Shard& shard)
      : RoundShard(context, shard), problem_(problem) {
    declare(count_, "overheads/count", rows().size());
    output(count_, 0);
  }
  Launch configure(Launch launch) override {
    LaunchLimits bounds = limits;
    bounds.team_times_vector = max_block_lanes;
    return launch_ = resolved(launch, defaults(), bounds);
  }

 protected:
  [[nodiscard]] virtual Launch defaults() const { return {0, warp_size, 1}; }
  void require_whole_warps() const { blocks::require_whole_subgroups(launch_.team * launch_.vector, warp_size); }
  [[nodiscard]] unsigned grid() const { return static_cast<unsigned>(launch_.league); }
  [[nodiscard]] dim3 block() const {
    return {static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team)};
  }
  const Overheads& problem_;
  Launch launch_;
  Array<double> count_;
};

class Launches final : public CudaShard {
 public:
  using CudaShard::CudaShard;
  void take() override {
    count_repeat<<<grid(), block(), 0, stream(queue())>>>(count_.data(), problem_.repeats);
    check_launch();
  }
};

/// The host counts; the last allocation is written to and read.
class Allocations final : public CudaShard {
 public:
  Allocations(const Overheads& problem, const Context& context, const Shard& shard)
      : CudaShard(problem, context, shard), words_(ceil_div<std::int64_t>(problem.bytes, sizeof(double))) {
    declare(memory_, "overheads/allocation", words_);
  }
  void take() override {
    memory_ = {};
    memory_ = Array<double>(queue(), words_);
    ++allocations_;
  }
  void finish() override {
    use_memory<<<1, 1, 0, stream(queue())>>>(memory_.data(), words_, std::exchange(allocations_, 0), rows().size(),
                                             count_.data());
    check_launch();
  }

 private:
  const std::int64_t words_;
  Array<double> memory_;
  int allocations_ = 0;
};

template <class T>
class TeamSums final : public CudaShard {
 public:
  using CudaShard::CudaShard;
  Launch configure(Launch launch) override {
    CudaShard::configure(launch);
    require_whole_warps();
    return launch_;
  }
  void take() override {
    const auto bytes = static_cast<std::size_t>(blocks::sums_for_all_size<1>(launch_)) * sizeof(double);
    add_over_blocks<T><<<grid(), block(), bytes, stream(queue())>>>(count_.data(), problem_.repeats);
    check_launch();
  }

 private:
  [[nodiscard]] Launch defaults() const override { return {0, max_block_lanes / warp_size, warp_size}; }
};

template <class T>
class SubgroupSums final : public CudaShard {
 public:
  using CudaShard::CudaShard;
  Launch configure(Launch launch) override {
    CudaShard::configure(launch);
    require_whole_warps();
    return launch_;
  }
  void take() override {
    add_over_lanes<T><<<grid(), block(), 0, stream(queue())>>>(count_.data(), problem_.repeats);
    check_launch();
  }

 private:
  [[nodiscard]] Launch defaults() const override { return {0, 1, warp_size}; }
};

class Barriers final : public CudaShard {
 public:
  Barriers(const Overheads& problem, const Context& context, const Shard& shard) : CudaShard(problem, context, shard) {
    declare(sent_, "overheads/sent", 2 * rows().size());
    declare_zeroed(word_, "overheads/word", 1);
  }
  Launch configure(Launch launch) override {
    CudaShard::configure(launch);
    if (launch_.league > 0)
      blocks::require_at_once(launch_, blocks::blocks_at_once(queue(), launch_, 0, pass_barriers));
    return launch_;
  }
  void take() override {
    pass_barriers<<<grid(), block(), 0, stream(queue())>>>(count_.data(), sent_.data(), word_.data(), problem_.repeats);
    check_launch();
  }

 private:
  Array<double> sent_;  ///< [2 x teams], by parity of the round
  Array<unsigned> word_;
};

const RegisterRounds<Launches> launch{"launch", model, Loop::host, Clock::host, recordable};
const RegisterRounds<Launches> kernel{"kernel", model, Loop::host, Clock::device, recordable};
const RegisterRounds<Launches> fence{"fence", model, Loop::fenced, Clock::host};
const RegisterRounds<Allocations> allocation{"allocation", model, Loop::host, Clock::host};
const RegisterSums<TeamSums> team_reduction{"team_reduction", model};
const RegisterSums<SubgroupSums> subgroup_reduction{"subgroup_reduction", model};
const RegisterRounds<Barriers> league_barrier{"league_barrier", model, Loop::kernel, Clock::device};

}  // namespace
}  // namespace league::cuda::overheads
