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
    return launch_;
  }
  void accumulate() const override {
    const auto rows = Base::all_rows();
    if (by_rows())
      return with_features_up_to<few_features>(Base::features(), [&]<int known>() {
        add_rows<Sums<known>>(
            Base::queue(), "logistic_regression/fused",
            Base::template policy<Sums<known>::n, max_lanes<T, known>, numbers<T, known>.teams>(launch_),
            launch_.team * launch_.vector, rows, Base::state(), partials_.view(), ticket_.view(),
            StepAlone{{Base::state(), Base::rule_}, Base::is_alone()});
      });
    add_tiles<T>(Base::queue(), Base::exec_, launch_, rows, Base::state(), partials_.view());
    add_partials(Base::queue(), Base::exec_, std::min(tile_numbers<T>.team, Base::exec_.concurrency()), launch_.league,
                 Base::state(), partials_.view());
  }
  void update() const override {
    if (!by_rows() || !Base::is_alone()) Base::update();
  }

 private:
  [[nodiscard]] bool by_rows() const { return Base::features() <= few_features; }
  [[nodiscard]] Launch of_rows(Launch launch) {
    with_features_up_to<few_features>(Base::features(), [&]<int known>() {
      launch = Base::template planned<Sums<known>::n>(launch, numbers<T, known>, max_lanes<T, known>);
      Base::declare(partials_, "logistic_regression/partials", std::int64_t{launch.league} * Sums<known>::n);
    });
    Base::declare_zeroed(ticket_, "logistic_regression/ticket", 1);
    return launch;
  }
  [[nodiscard]] Launch of_tiles(Launch launch) {
    LaunchLimits most = kokkos::limits(Base::queue());
    most.team_times_vector = std::min(most.team_times_vector, max_tile_lanes);
    launch = resolve(launch, {0, std::min(tile_numbers<T>.team, most.team_times_vector), 1}, most);
    kokkos::require_scratch(TileSums<T>::bytes(Base::features(), launch.team * launch.vector), "a tile of rows");
    launch.tile = TileSums<T>::rows;
    if (launch.league == 0)
      launch.league = Base::teams(launch, blocks::lanes_at_once(Base::exec_, tile_numbers<T>, max_tile_lanes));
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
