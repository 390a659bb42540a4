// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/common/features.hpp"
#include "algorithms/logistic_regression/common/kokkos_rows.hpp"
#include "algorithms/logistic_regression/fused/kokkos_tiles.hpp"

namespace league::logistic::kokkos_model {
namespace {

// A lane takes `width` neighbouring rows: a load of 16 bytes on a GPU, which keeps `values` of all columns in
// registers; a cache line on a host, whose vector registers hold as many sums side by side for `depth` packs, before
// they are added in double. Few features leave a GPU registers for more lanes, many for fewer.
template <class T, int known = 8>
constexpr Numbers numbers =
    blocks::by_kind({.width = 16 / int{sizeof(T)},
                     .depth = 1,
                     .values = 16 * 16 / int{sizeof(T)},
                     .sums = 1,
                     .team = known <= 8 ? 256 : 128,
                     .teams = known * int{sizeof(T)} <= 8                 ? 4
                              : known * int{sizeof(T)} <= 16 || known > 8 ? 3
                                                                          : 2},
                    {.width = 64 / int{sizeof(T)}, .depth = 16, .sums = 64 / int{sizeof(T)}, .team = 1});
template <class T, int known>
constexpr int max_lanes = std::max(numbers<T, known>.team, 128);

constexpr int few_features = 16;  ///< whose sums a lane keeps

/// The step, in the kernel that adds the sums, where one shard has them all.
struct StepAlone {
  Descend descend;
  bool alone;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (!alone) return;
    team.team_barrier();
    descend(team);
  }
};

// The last team to arrive adds the sums of all, and calls `step`, as does the first one of a solve that has stopped.
template <class T, class Step>
void add_tiles(Queue& queue, const Exec& exec, Launch launch, const Rows<T, tile_numbers<T>.width>& rows,
               const State& state, const Vector<double>& partials, const Vector<unsigned>& ticket, const Step& step) {
  using Bounds = Kokkos::LaunchBounds<tile_numbers<T>.team, kokkos::launch_bound(tile_numbers<T>.teams)>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
  const TileShape shape = TileSums<T>::shape(rows.features, launch.team);
  const std::int64_t tiles = ceil_div<std::int64_t>(rows.packs, TileSums<T>::packs(shape));
  kokkos::submit(
      queue, "logistic_regression/fused",
      kokkos::light(
          Policy(exec, launch.league, launch.team, 1).set_scratch_size(0, Kokkos::PerTeam(TileSums<T>::bytes(shape)))),
      KOKKOS_LAMBDA(const Member& team) {
        bool takes_step = team.league_rank() == 0;
        if (!state.stopped()) {
          TileSums<T> sums(team, shape.lanes, rows);
          sums.add(state, blocks::share(std::int64_t{team.league_rank()}, std::int64_t{team.league_size()}, tiles));
          takes_step = sums.leave(partials, ticket, [&](int i, double sum) { state.sums(i) = sum; });
        }
        if (takes_step) step(team);
      });
}

template <class T>
class Fused final : public Solve<T, numbers<T>.width> {
  using Base = Solve<T, numbers<T>.width>;
  template <int known>
  using Sums = RowSums<known, false, T, numbers<T>.width, numbers<T>.depth, numbers<T>.sums,
                       numbers<T>.values / numbers<T>.width>;

 public:
  using Base::Base;
  Launch configure(Launch launch) override {
    launch_ = by_rows() ? of_rows(launch) : of_tiles(launch);
    Base::declare_zeroed(ticket_, "logistic_regression/ticket", 1);
    return launch_;
  }
  void accumulate() const override {
    const auto rows = Base::all_rows();
    const StepAlone step{{Base::state(), Base::rule_}, Base::is_alone()};
    if (!by_rows())
      return add_tiles<T>(Base::queue(), Base::exec_, launch_, rows, Base::state(), partials_.view(), ticket_.view(),
                          step);
    with_features_up_to<few_features>(Base::features(), [&]<int known>() {
      add_rows<Sums<known>>(
          Base::queue(), "logistic_regression/fused",
          Base::template policy<Sums<known>::n, max_lanes<T, known>, numbers<T, known>.teams>(launch_),
          launch_.team * launch_.vector, rows, Base::state(), partials_.view(), ticket_.view(), step);
    });
  }
  void update() const override {
    if (!Base::is_alone()) Base::update();
  }

 private:
  [[nodiscard]] bool by_rows() const { return Base::features() <= few_features; }
  [[nodiscard]] Launch of_rows(Launch launch) {
    with_features_up_to<few_features>(Base::features(), [&]<int known>() {
      launch = Base::template planned<Sums<known>::n>(launch, numbers<T, known>, max_lanes<T, known>);
      Base::declare(partials_, "logistic_regression/partials", std::int64_t{launch.league} * Sums<known>::n);
    });
    return launch;
  }
  [[nodiscard]] Launch of_tiles(Launch launch) {
    LaunchLimits most = blocks::sharing_limits(kokkos::limits(Base::queue()), tile_numbers<T>.team);
    most.vector = 1;
    launch = resolve(launch, {0, most.team_times_vector, 1}, most);
    const TileShape shape = TileSums<T>::shape(Base::features(), launch.team);
    if (shape.across == 0)
      throw Unsupported(std::to_string(shape.parts) + " threads share a row of " + std::to_string(Base::features()) +
                        " features: the team size must be at least that");
    kokkos::require_scratch(TileSums<T>::bytes(shape), "a tile of rows");
    launch.tile = TileSums<T>::packs(shape) * tile_numbers<T>.width;
    if (launch.league == 0)
      launch.league = Base::teams(launch, blocks::lanes_at_once(Base::exec_, tile_numbers<T>, tile_numbers<T>.team));
    Base::declare(partials_, "logistic_regression/partials",
                  std::int64_t{sums_of(Base::features(), false)} * launch.league);
    return launch;
  }

  Launch launch_;
  kokkos::Array<double> partials_;
  kokkos::Array<unsigned> ticket_;
};

const RegisterSolve<LogisticRegression> fused{
    "fused", written_once<float, double>(kokkos::model, []<class T>(Of<T>) { return blocks::named(numbers<T>); }),
    by_type<Fused>};

}  // namespace
}  // namespace league::logistic::kokkos_model
