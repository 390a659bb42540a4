// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/sums_cuda.hpp"
#include "algorithms/linear_regression/cuda_part.hpp"
#include "algorithms/linear_regression/resident.hpp"
#include "backends/cuda/wait.hpp"

// One grid takes all steps. A thread keeps its rows in registers where they fit, and reads them in each step where not;
// the lanes of a thread shuffle, threads meet in shared memory. Several blocks tell each other their sums in stamped
// words. All blocks must be on the device at the same time: the league is held to what fits. The grid waits for no
// other kernel, and all that it changes is device memory: a profiler can restore that and run it again.
namespace league::cuda::linear_regression {
namespace {

/// Sums of all blocks, by parity of the step, value and block: [2 x values x blocks].
struct Board {
  Word* low;
  Word* high;
};

/// Adds the blocks' sums, in the same order in all of them; all threads get them. A slot is written again two steps
/// later: by then every reader of the first has sent its sums of the second. `totals` [2 x n]
template <int n>
__device__ Sums<double, n> sums_of_blocks(const Sums<double, n>& of_block, const Board& board, double* totals,
                                          std::int64_t step) {
  const Place place = place_of_thread();
  const int warps = place.lanes / warp_size, warp = place.lane / warp_size, lane = place.lane % warp_size;
  const std::int64_t slots = (step & 1) * n * place.teams;
  const auto stamp = static_cast<unsigned>(step + 1);
  for (int i = 0; i < n; ++i)  // a lane sends one value, or several where there are more values than lanes
    if (place.lane == (n > warp_size ? i % place.lanes : i)) {
      const std::int64_t slot = slots + i * place.teams + place.team;
      publish(board.low + slot, board.high + slot, of_block.values[i], stamp);
    }
  double* mine = totals + (step & 1) * n;
  for (int i = warp; i < n; i += warps) {
    double sum = 0;
    for (std::int64_t block = lane; block < place.teams; block += warp_size) {
      const std::int64_t slot = slots + i * place.teams + block;
      sum += await(board.low + slot, board.high + slot, stamp);
    }
    sum = blocks::subgroup_sum(sum);
    if (lane == 0) mine[i] = sum;
  }
  __syncthreads();
  Sums<double, n> sums;
  for (int i = 0; i < n; ++i) sums.values[i] = mine[i];
  return sums;
}

template <class T, int width, int resident>
__global__ void __launch_bounds__(most_persistent_lanes, 1)
    take_all_steps(Columns<T> data, Rule rule, State state, Board board) {
  constexpr int n = terms<width>;
  extern __shared__ double scratch[];
  __shared__ double totals[2 * n];
  const Place place = place_of_thread();
  const bool first = place.team == 0 && place.lane == 0;
  ResidentRows<T, resident> rows;
  rows.load(data, place);
  OwnTheta<width> theta;
  theta.load(state.theta, data.features);
  for (std::int64_t step = 0; step < rule.steps; ++step) {
    const Line<T, width> line = theta.template line<T>();
    Sums<LaneType<T, resident>, n> mine;
    if constexpr (resident > 0)
      mine = rows.sums(line);
    else
      mine = lane_sums(data, line, place);
    Sums<double, n> sums = blocks::sums_for_all(mine, scratch, step);
    if (place.teams > 1) sums = sums_of_blocks(sums, board, totals, step);
    theta.step(rule, sums);
    if (first) state.loss[step] = rule.loss_scale * sums.values[width + 1];
  }
  if (!first) return;
  theta.store(state.theta, data.features);
  *state.taken = rule.steps;
}

template <class T, int width>
class Persistent final : public CudaPart {
 public:
  Persistent(const LinearRegression& problem, const Context& context, const Shard& shard)
      : CudaPart(problem, context, shard, width), rows_(*this, problem) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    constexpr int rows_a_lane = width == 1 ? most_resident<T> : 1;
    const bool chosen = launch.league == 0;
    launch_ = resolved(launch, persistent_lanes<width>, most_persistent_lanes, rows_a_lane);
    bytes_ = blocks::sums_for_all_size<terms<width>>(launch_) * sizeof(double);
    if (bytes_ > most_shared)
      throw Unsupported("team size " + std::to_string(launch_.team) + ": its sums need " + std::to_string(bytes_) +
                        " bytes of shared memory, there are " + std::to_string(most_shared));
    const int held = blocks_held();
    if (chosen) launch_.league = std::min(launch_.league, held);
    if (launch_.league > held)
      throw Unsupported("league " + std::to_string(launch_.league) + ": the device holds " + std::to_string(held) +
                        " such blocks at the same time");
    declare(low_, "linear_regression/board", std::int64_t{2} * terms<width> * launch_.league);
    declare(high_, "linear_regression/board", std::int64_t{2} * terms<width> * launch_.league);
    return launch_;
  }
  void begin() const override {
    CudaPart::begin();
    clear(low_);
    clear(high_);
  }
  void accumulate() const override {
    kernel()<<<grid(launch_), block(launch_), bytes_, stream(queue())>>>(rows_.data(), rule_, state(),
                                                                         Board{low_.data(), high_.data()});
    check_launch();
  }
  void update() const override {}

 private:
  static constexpr std::size_t most_shared = 40936;  // what Kokkos gives a team
  using Steps = void (*)(Columns<T>, Rule, State, Board);
  [[nodiscard]] Steps kernel() const {
    const std::int64_t lanes = std::int64_t{launch_.league} * launch_.team * launch_.vector;
    if constexpr (width == 1)
      if (rows().size() <= most_resident<T> * lanes) return take_all_steps<T, width, most_resident<T>>;
    return take_all_steps<T, width, 0>;
  }
  /// Of the larger kernel, whichever this launch takes: the league decides that.
  [[nodiscard]] int blocks_held() const {
    int least = 1 << 30;
    const auto count = [&](Steps which) {
      int blocks = 0;
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, which, launch_.team * launch_.vector, bytes_));
      least = std::min(least, blocks * properties().multiProcessorCount);
    };
    stream(queue());
    count(take_all_steps<T, width, 0>);
    if constexpr (width == 1) count(take_all_steps<T, width, most_resident<T>>);
    return least;
  }
  DeviceRows<T> rows_;
  Launch launch_;
  std::size_t bytes_ = 0;
  Array<Word> low_, high_;
};

const RegisterWholeSolve<LinearRegression> persistent{"persistent", model, by_width<Persistent>};

}  // namespace
}  // namespace league::cuda::linear_regression
