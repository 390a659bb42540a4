// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/league_all_reduce_cuda.hpp"
#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/linear_regression/common/cuda.hpp"
#include "algorithms/linear_regression/common/resident.hpp"

// One grid takes all steps. A thread keeps its rows in registers where they fit, and reads them in each step where not;
// sums pass through shuffles and shared memory, blocks send each other their sums in stamped words, if there are
// several. All blocks must be on the device at once: the league is limited to what fits. The grid waits for no other
// kernel, and all that it changes is device memory: a profiler can restore that and run it again.
namespace league::cuda::linear_regression {
namespace {

template <class T, int width, int resident, bool alone, bool segmented>
__global__ void __launch_bounds__(max_persistent_lanes, launch_bound(persistent_teams<width>))
    take_all_steps(Columns<T> data, Rule rule, State state, stamped::Word* board) {
  constexpr int n = terms<width>;
  extern __shared__ double scratch[];
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
    else if constexpr (segmented)
      mine = segment_sums<width>(rule, data.rows, place,
                                 [&](Range some, Place of) { return lane_sums(data, line, of, step, some); });
    else
      mine = lane_sums(data, line, place, step);
    const auto sums = blocks::league_sums_for_all<alone>(mine, scratch, board, step);
    theta.step(segmented ? 1 : rule.scale[0], sums.values);
    if (first) state.loss[step] = rule.loss_scale * sums.values[width + 1];
  }
  if (!first) return;
  theta.store(state.theta, data.features);
  *state.taken = rule.steps;
}

template <class T, int width, bool segmented>
class Persistent final : public CudaShard {
 public:
  Persistent(const LinearRegression& problem, const Context& context, const Shard& shard)
      : CudaShard(problem, context, shard, width), rows_(*this, problem) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    constexpr int rows_per_lane = keeps_rows ? max_resident<T> : 1;
    const bool chosen = launch.league == 0;
    launch_ = resolved(launch, persistent_lanes<width, keeps_rows>(rows().size()), max_persistent_lanes, rows_per_lane);
    bytes_ = blocks::league_sums_size<terms<width>>(launch_) * sizeof(double);
    const int held = blocks_held();
    if (chosen)
      launch_.league = automatic_league<width, keeps_rows>(rows().size(), launch_, held, multiprocessors(*this));
    blocks::require_at_once(launch_, held);
    declare(board_, "linear_regression/board", blocks::league_sums_words<terms<width>>(launch_.league));
    return launch_;
  }
  void begin() const override {
    CudaShard::begin();
    clear(board_);
  }
  void accumulate() const override {
    kernel()<<<grid(launch_), block(launch_), bytes_, stream(queue())>>>(rows_.here(), rule_, state(), board_.data());
    check_launch();
  }
  void update() const override {}

 private:
  static constexpr bool keeps_rows = width == 1 && !segmented;
  using Steps = void (*)(Columns<T>, Rule, State, stamped::Word*);
  [[nodiscard]] Steps kernel() const {
    const std::int64_t lanes = std::int64_t{launch_.league} * launch_.team * launch_.vector;
    if constexpr (keeps_rows)
      if (rows().size() <= max_resident<T> * lanes)
        return launch_.league == 1 ? take_all_steps<T, width, max_resident<T>, true, false>
                                   : take_all_steps<T, width, max_resident<T>, false, false>;
    return take_all_steps<T, width, 0, false, segmented>;
  }
  /// By the larger kernel, whichever this launch takes: the league decides that.
  [[nodiscard]] int blocks_held() const {
    const Steps reading = take_all_steps<T, width, 0, false, segmented>;
    if constexpr (keeps_rows)
      return blocks::blocks_at_once(queue(), launch_, bytes_, reading,
                                    take_all_steps<T, width, max_resident<T>, false, false>);
    return blocks::blocks_at_once(queue(), launch_, bytes_, reading);
  }
  DeviceRows<T> rows_;
  Launch launch_;
  std::size_t bytes_ = 0;
  Array<stamped::Word> board_;
};

template <class T, int width>
using OneProblem = Persistent<T, width, false>;
template <class T, int width>
using Segmented = Persistent<T, width, true>;
const RegisterWholeSolve<LinearRegression> persistent{"persistent", model, by_width<OneProblem>};
const RegisterWholeSolve<LinearRegression> segments{"persistent_segments", model, by_width<Segmented>};

}  // namespace
}  // namespace league::cuda::linear_regression
