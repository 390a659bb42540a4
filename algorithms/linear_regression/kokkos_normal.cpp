// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/sums_kokkos.hpp"
#include "algorithms/linear_regression/gram.hpp"
#include "algorithms/linear_regression/kokkos_part.hpp"

// A lane takes packs of 16 bytes of the columns of one block of features, or of a pair of blocks, and adds all their
// products in registers; the last team adds the sums of all teams. Then one team solves. On a host a thread takes one
// block of consecutive rows.
namespace league::kokkos::linear_regression {
namespace {

constexpr int most_lanes_direct = 256, direct_share = 8;  // one team of a multiprocessor: registers

/// What the last team needs to add the sums of all teams.
struct Finish {
  double *partials, *sums;
  unsigned* ticket;
};

/// Adds what `lane_sums(place)` returns of all lanes.
template <int n, class LaneSums>
void add_piece(const Exec& exec, Launch launch, const Finish& finish, const LaneSums& lane_sums) {
  const int vector = launch.vector, values = blocks::sums_for_all_size<n>(launch, 1);
  Kokkos::parallel_for(
      "linear_regression/products", policy_of<most_lanes_direct>(exec, launch, values),
      KOKKOS_LAMBDA(const Member& team) {
        const Scratch scratch(team.team_scratch(0), static_cast<std::size_t>(values));
        const int first = team.team_rank() * vector, lanes = team.team_size() * vector;
        const auto of_team = blocks::sums_for_all<double, n>(team, vector, scratch.data(), 0, [&](int lane) {
          return lane_sums(Place{team.league_rank(), team.league_size(), first + lane, lanes});
        });
        blocks::league_sums(team, vector, of_team, finish.partials, finish.ticket, finish.sums, scratch.data());
      });
}

template <class T, int width>
void add_products_of(const Exec& exec, Launch launch, const Gram& gram, const Columns<T>& data, Finish finish) {
  double* sums = finish.sums;
  for (int a = 0; a < gram.blocks; ++a) {
    finish.sums = sums + gram.begin(a, a);
    add_piece<Gram::of_block(width)>(
        exec, launch, finish, KOKKOS_LAMBDA(const Place& place) { return lane_products<T, width>(data, a, place); });
  }
  if constexpr (width == Gram::pair_width)
    for (int a = 0; a < gram.blocks; ++a)
      for (int b = a + 1; b < gram.blocks; ++b) {
        finish.sums = sums + gram.begin(a, b);
        add_piece<width * width>(
            exec, launch, finish,
            KOKKOS_LAMBDA(const Place& place) { return lane_cross_products<T, width>(data, a, b, place); });
      }
}

/// On a host: each lane leaves all its sums in `partials` [lanes x sums], then they are added in order.
template <class T>
void add_products_on_host(const Exec& exec, Launch launch, const Gram& gram, const Columns<T>& data,
                          const Finish& finish) {
  const int size = gram.sums();
  const std::int64_t all = std::int64_t{launch.league} * launch.team;
  Kokkos::parallel_for(
      "linear_regression/products", policy_of<most_lanes_direct>(exec, launch), KOKKOS_LAMBDA(const Member& team) {
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, team.team_size()), [&](int lane) {
          const std::int64_t mine = std::int64_t{team.league_rank()} * team.team_size() + lane;
          double* sums = finish.partials + mine * size;
          for (int i = 0; i < size; ++i) sums[i] = 0;
          range_products(data, gram, piece(data.rows, mine, all), sums);
        });
      });
  Kokkos::parallel_for(
      "linear_regression/sums", Kokkos::RangePolicy<Exec>(exec, 0, size), KOKKOS_LAMBDA(int i) {
        double sum = 0;
        for (std::int64_t part = 0; part < all; ++part) sum += finish.partials[part * size + i];
        finish.sums[i] = sum;
      });
}

void solve_on_device(const Exec& exec, const Gram& gram, std::int64_t rows, const double* sums, double* theta) {
  const int threads = on_gpu ? 64 : 1;
  const int size = gram.work();
  Kokkos::parallel_for(
      "linear_regression/solve", policy_of<most_lanes_direct>(exec, {1, threads, 1}, size),
      KOKKOS_LAMBDA(const Member& team) {
        const Scratch work(team.team_scratch(0), static_cast<std::size_t>(size));
        solve_equations(gram, rows, sums, work.data(), theta, team.team_rank(), team.team_size(),
                        [&] { team.team_barrier(); });
      });
}

template <class T, int width>
class Direct final : public KokkosPart<T> {
 public:
  Direct(const LinearRegression& problem, const Context& context, const Shard& shard)
      : KokkosPart<T>(problem, context, shard, Gram(problem.features).sums() - 2),
        gram_(problem.features),
        ticket_(this->exec_, "linear_regression/ticket", 1) {
    Kokkos::deep_copy(this->exec_, ticket_.view(), 0U);
  }
  Launch configure(Launch launch) override {
    launch_ = this->resolved(launch, 256, most_lanes_direct, 8 / std::int64_t{sizeof(T)}, direct_share);
    if (on_gpu) require_scratch(launch_, blocks::sums_for_all_size<most_values>(launch_, 1));
    const std::int64_t values = on_gpu ? launch_.league * std::int64_t{most_values}
                                       : std::int64_t{launch_.league} * launch_.team * gram_.sums();
    partials_ = Array<double>(this->exec_, "linear_regression/partials", values);
    return launch_;
  }
  void begin() override {}
  void accumulate() override {
    const Finish finish{partials_.data(), this->sums_.data(), ticket_.data()};
    if constexpr (on_gpu)
      add_products_of<T, width>(this->exec_, launch_, gram_, this->data(), finish);
    else
      add_products_on_host<T>(this->exec_, launch_, gram_, this->data(), finish);
  }
  void update() override {
    solve_on_device(this->exec_, gram_, this->problem_.rows, this->sums_.data(), this->theta_.data());
  }

 private:
  static constexpr int most_values = std::max(Gram::of_block(width), width* width);
  Gram gram_;
  Launch launch_;
  Array<double> partials_;
  Array<unsigned> ticket_;
};

std::unique_ptr<Prepared> prepare(const LinearRegression& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return with_block_width(problem.features, [&]<int width>() {
      return solve<Direct<T, width>>(problem, context, 1, Execution::stepwise);
    });
  });
}

const Register<LinearRegression> normal_equations{"normal_equations", kokkos::model, prepare};

}  // namespace
}  // namespace league::kokkos::linear_regression
