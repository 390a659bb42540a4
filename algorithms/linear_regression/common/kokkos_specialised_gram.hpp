// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/linear_regression/common/gram_lanes.hpp"
#include "algorithms/linear_regression/common/kokkos_specialised.hpp"

// A lane takes packs of the columns of one block of features, or of a pair of blocks, and adds all their products in
// registers; the last team adds the sums of all teams. On a host a thread takes one block of consecutive rows.
namespace league::kokkos::linear_regression::specialised {

/// What the last team needs to add the sums of all teams.
struct Finish {
  double *partials, *sums;
  unsigned* ticket;
};

// The kernels of a GPU are functors: nvcc 13.0 gives a lambda of a function that two files instantiate alike no copy
// function, so that Kokkos calls a null pointer.

/// Adds what `lane_sums(place)` returns of all lanes.
template <int n, class LaneSums>
struct AddPiece {
  LaneSums lane_sums;
  Finish finish;
  int lanes, values;  ///< of a team; values: scratch in doubles
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const auto team = blocks::team_group(member, lanes);
    const auto mine = lane_sums(Place{member.league_rank(), member.league_size(), team.rank, lanes});
    const Scratch scratch(member.team_scratch(0), static_cast<std::size_t>(values));
    const auto of_team = blocks::sums_for_all(team, mine, scratch.data());
    blocks::league_sums(member, team, of_team, finish.partials, finish.ticket, finish.sums, scratch.data());
  }
};
template <int n, int max_lanes, int teams, class LaneSums>
void add_piece(const Exec& exec, Launch launch, const Finish& finish, const LaneSums& lane_sums) {
  const int lanes = launch.team * launch.vector, values = blocks::team_sums_size<n>(lanes);
  Kokkos::parallel_for("linear_regression/products", policy_of<max_lanes, teams>(exec, launch, scratch_bytes(values)),
                       AddPiece<n, LaneSums>{lane_sums, finish, lanes, values});
}

template <class T, int width>
struct BlockProducts {
  Columns<T> data;
  int block;
  KOKKOS_FUNCTION auto operator()(const Place& place) const { return lane_products<T, width>(data, block, place); }
};
template <class T, int width>
struct PairProducts {
  Columns<T> data;
  int first, second;
  KOKKOS_FUNCTION auto operator()(const Place& place) const {
    return lane_cross_products<T, width>(data, first, second, place);
  }
};

template <class T, int width>
void add_products_of(const Exec& exec, Launch launch, const Gram& gram, const Columns<T>& data, Finish finish) {
  constexpr int max_lanes = max_block_lanes<width>;
  double* sums = finish.sums;
  for (int a = 0; a < gram.blocks; ++a) {
    finish.sums = sums + gram.begin(a, a);
    add_piece<Gram::of_block(width), max_lanes, block_teams<width>>(exec, launch, finish,
                                                                    BlockProducts<T, width>{data, a});
  }
  if constexpr (width == Gram::pair_width)
    for (int a = 0; a < gram.blocks; ++a)
      for (int b = a + 1; b < gram.blocks; ++b) {
        finish.sums = sums + gram.begin(a, b);
        add_piece<width * width, max_lanes, 1>(exec, launch, finish, PairProducts<T, width>{data, a, b});
      }
}

/// On a host: each lane leaves all its sums in `partials` [lanes x sums], then they are added in order.
template <class T>
void add_products_on_host(const Exec& exec, Launch launch, const Gram& gram, const Columns<T>& data,
                          const Finish& finish) {
  const int size = gram.sums();
  const std::int64_t all = std::int64_t{launch.league} * launch.team;
  Kokkos::parallel_for(
      "linear_regression/products", policy_of<max_block_lanes<1>>(exec, launch), KOKKOS_LAMBDA(const Member& team) {
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

template <class T, int width>
void add_products(const Exec& exec, Launch launch, const Gram& gram, const Columns<T>& data, const Finish& finish) {
  if constexpr (on_gpu)
    add_products_of<T, width>(exec, launch, gram, data, finish);
  else
    add_products_on_host<T>(exec, launch, gram, data, finish);
}

/// The pass over the rows of a method `Base`.
template <class T, int width, class Base>
class GramPass final : public Specialised<Base> {
 public:
  GramPass(const LinearRegression& problem, const Context& context, const Shard& shard)
      : Specialised<Base>(problem, context, shard), rows_(*this, problem) {
    this->declare_zeroed(ticket_, "linear_regression/ticket", 1);
  }
  Launch configure(Launch launch) override {
    constexpr int max_values = std::max(Gram::of_block(width), width * width);
    constexpr int rows_per_lane = block_bytes<width> / static_cast<int>(sizeof(T));
    launch_ = this->resolved(launch, 256, max_block_lanes<width>, rows_per_lane, block_share<width>);
    if (on_gpu) require_scratch(launch_, blocks::team_sums_size<max_values>(launch_.team * launch_.vector));
    const std::int64_t values = on_gpu
                                    ? launch_.league * std::int64_t{max_values}
                                    : std::int64_t{launch_.league} * launch_.team * Gram(rows_.here().features).sums();
    this->declare(partials_, "linear_regression/partials", values);
    return launch_;
  }
  void accumulate() const override {
    this->queue().submit([exec = this->exec_, launch = launch_, data = rows_.here(),
                          finish = Finish{partials_.data(), this->sums_.data(), ticket_.data()}] {
      add_products<T, width>(exec, launch, Gram(data.features), data, finish);
    });
  }

 private:
  DeviceRows<T> rows_;
  Launch launch_;
  Array<double> partials_;
  Array<unsigned> ticket_;
};

}  // namespace league::kokkos::linear_regression::specialised
