// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/fused/kokkos_tiles.hpp"

namespace league::softmax_regression::kokkos_model {
namespace {

constexpr int rows_together = 256;  ///< whose gradients a lane adds in float
constexpr int max_lanes = 256;

// A team takes its share of the tiles. Its lanes share the logits, the softmax and the gradient of a tile. Where each
// lane has one item of the gradient, it keeps the sums in registers over several tiles.
template <class T, int rows>
struct AddTiles {
  State state;
  Inputs<T> in;
  Vector<double> partials;  ///< [teams][partial_pitch]
  int lanes;                ///< of a team

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int thread = blocks::rank(team), league = team.league_size(), own = team.league_rank();
    const int columns = state.rule.columns();
    const std::int64_t step = state.taken(0), here = std::int64_t{own} * partial_pitch(columns);
    const league::softmax_regression::Rows batch = state.rule.own_rows(step);
    const auto mine = blocks::share(own, league, static_cast<int>((batch.last - batch.first + rows - 1) / rows));
    double loss = own == 0 && state.rule.l2 > 0 ? state.penalty(step) * state.squares(thread, lanes) : 0;
    if (own == 0 && thread == 0) state.current(0) = step;

    Tile<T, rows> tile(team, lanes, in, state.rule);
    typename Tile<T, rows>::Gradient sums = {};
    const int items = tile.items();
    bool left = false;
    int kept = 0;  // tiles whose gradients are in `sums`
    for (int t = mine.first; t < mine.end; t += mine.stride) {
      loss += tile.take(batch.first + std::int64_t{t} * rows, batch.last);
      const bool leaves = items > lanes || ++kept == rows_together / rows || t + mine.stride >= mine.end;
      for (int item = thread; item < items; item += lanes) {
        tile.add_gradient(item, sums);
        if (leaves) tile.leave(item, left, here, partials, sums);
      }
      if (leaves) left = true, kept = 0;
    }
    for (int item = thread; item < items && !left; item += lanes) tile.leave(item, false, here, partials, sums);
    team.team_reduce(Kokkos::Sum<double>(loss));
    if (thread == 0) partials(here + columns - 1) = loss;
  }
};

template <class T>
class Fused final : public Solve<T> {
  using Base = Solve<T>;
  static constexpr int width = numbers<T>.width, tile = numbers<T>.tile;

 public:
  Fused(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard, packs_of_run * width) {}
  Launch configure(Launch launch) override {
    const LaunchLimits most = blocks::sharing_limits(kokkos::limits(Base::queue()), numbers<T>.team);
    launch = resolve(launch, {0, std::min(default_team(), most.team_times_vector), 1, tile}, most);
    if (launch.vector != 1)
      throw Unsupported("vector length " + std::to_string(launch.vector) +
                        ": each thread of this kernel keeps its own sums, it takes 1");
    with_tile(launch.tile, [&]<int rows>() {
      kokkos::require_scratch(Tile<T, rows>::bytes(Base::problem().classes, launch.team), "a tile of rows");
    });
    if (launch.league == 0) launch.league = default_league(launch);
    Base::declare(partials_, "softmax/partials",
                  std::int64_t{launch.league} * partial_pitch(Base::state().rule.columns()));
    return launch_ = launch;
  }
  void accumulate() const override {
    with_tile(launch_.tile, [&]<int rows>() {
      using Bounds = Kokkos::LaunchBounds<max_lanes, kokkos::launch_bound(numbers<T>.teams)>;
      Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds> policy(Base::exec_, launch_.league,
                                                                               launch_.team, 1);
      policy.set_scratch_size(0, Kokkos::PerTeam(Tile<T, rows>::bytes(Base::problem().classes, launch_.team)));
      const State state = Base::state();
      const Inputs<T> in{blocks::packs<width>(Base::x()),
                         blocks::pack_blocks<width, classes_together, packs_of_run>(Vector<const float>(state.weights)),
                         Base::labels(), state.rule.pitch / width};
      kokkos::submit(Base::queue(), "softmax/fused", kokkos::light(policy),
                     AddTiles<T, rows>{state, in, partials_.view(), launch_.team});
    });
    Base::finish(partials_.view(), launch_.league);
  }
  void update() const override {
    if (!Base::is_alone()) Base::update();
  }

 private:
  template <class Body>
  static void with_tile(int rows, const Body& body) {
    if (rows == tile / 2) return body.template operator()<tile / 2>();
    if (rows == tile) return body.template operator()<tile>();
    if (rows == 2 * tile) return body.template operator()<2 * tile>();
    throw Unsupported("tile " + std::to_string(rows) + ": this kernel takes " + std::to_string(tile / 2) + ", " +
                      std::to_string(tile) + " or " + std::to_string(2 * tile) + " rows");
  }
  /// A thread for each pack of features, at least 128 so that a multiprocessor has warps for its schedulers; few packs,
  /// of which threads would be idle, have 32.
  [[nodiscard]] int default_team() const {
    constexpr int step = 64, few = 32;
    const int packs = turns(Base::problem().classes) * static_cast<int>(Base::problem().pitch) / width;
    return packs <= few ? few : std::max(ceil_div(packs, step) * step, 2 * step);
  }
  /// The teams that are resident at once, with two tiles each where there are enough.
  [[nodiscard]] int default_league(const Launch& launch) const {
    const int lanes = blocks::lanes_at_once(Base::exec_, numbers<T>, max_lanes);
    const std::int64_t tiles = ceil_div<std::int64_t>(Base::max_rows(), launch.tile);
    const std::int64_t wanted = std::max(std::min<std::int64_t>(tiles, lanes / numbers<T>.team), tiles / 2);
    return league_of(std::min<std::int64_t>(lanes / launch.team, wanted));
  }

  Launch launch_;
  kokkos::Array<double> partials_;
};

const RegisterSolve<SoftmaxRegression> fused{
    "fused", written_once<float, std::uint8_t>(kokkos::model, []<class T>(Of<T>) { return blocks::named(numbers<T>); }),
    by_type<Fused>};

}  // namespace
}  // namespace league::softmax_regression::kokkos_model
