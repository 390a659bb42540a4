// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/linear_regression/common/kokkos_rows.hpp"

/// The pass over the rows that `moments` and `normal_equations` share, written once. Products and sums are of doubles,
/// so that products of floats are exact.
namespace league::kokkos::linear_regression {

/// A lane takes runs of `tile` packs of `width` rows, `depth` of them in flight, and multiplies a column by `rows`
/// others at a time.
template <class T>
constexpr Numbers gram_numbers = blocks::by_kind({.tile = 1,
                                                  .width = 16 / int{sizeof(T)},
                                                  .rows = 1,
                                                  .depth = 2,
                                                  .values = 136 / int{sizeof(T)},
                                                  .sums = 1,
                                                  .team = 256,
                                                  .teams = 1},
                                                 {.tile = 2 * int{sizeof(T)},
                                                  .width = 64 / int{sizeof(T)},
                                                  .rows = 4,
                                                  .depth = 1,
                                                  .values = 4096 / int{sizeof(T)},
                                                  .sums = 8,
                                                  .team = 1});

/// A lane's sums of the products of some columns.
template <class T, int columns, int n>
class Products {
 public:
  static constexpr Numbers numbers = gram_numbers<T>;
  static constexpr int pack = rows_of_pack<columns>(numbers), run = pack * numbers.tile,
                       wide = std::min(numbers.sums, pack), together = numbers.rows, depth = numbers.depth;
  using Columns = double[columns][run];

  /// Adds the share of lane `lane` of `lanes`. `Pairs::add(self, x)` calls those below for all pairs of columns,
  /// x[c] being rows of column c. All of it is unrolled.
  template <class Pairs, class Data>
  KOKKOS_FORCEINLINE_FUNCTION void add_all(const Data& data, std::int64_t lane, std::int64_t lanes) {
    const std::int64_t runs = data.rows / run;
    const auto mine = blocks::share(lane, lanes, runs);
    if (mine.first < mine.end) {
      // Beyond the last run that one is loaded again, for nothing: a branch would let the compiler join the loads.
      const auto bounded = [last = mine.end - 1](std::int64_t number) { return number < last ? number : last; };
      Run ahead[depth];
      for (int d = 0; d < depth; ++d) ahead[d].load(data, bounded(mine.first + d * mine.stride));
      std::int64_t number = mine.first;
      for (; number + (depth - 1) * mine.stride < mine.end; number += depth * mine.stride)
        add_runs<Pairs, 0>(data, ahead, [&](int d) { return bounded(number + (depth + d) * mine.stride); });
      add_rest<Pairs, 0>(ahead, number, mine);
    }
    for (std::int64_t row = runs * run + lane; row < data.rows; row += lanes) {
      double x[columns][run] = {};
      for (int c = 0; c < columns; ++c) x[c][0] = static_cast<double>(data.value_of(c, row));
      Pairs::add(*this, x);
    }
  }
  /// Adds x[i] x[first] to the sum at `at`, x[i] x[first + 1] to the next one, and so on to x[end - 1].
  template <int at, int i, int first, int end>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(const Columns& x) {
    constexpr int left = end - first, count = together < left ? together : left;
    if constexpr (count > 0) {
      for (int k = 0; k < wide; ++k) {  // a loop that GCC 12 vectorises: all within is unrolled
        double sums[count];
        for (int q = 0; q < count; ++q) sums[q] = sums_[at + q][k];
        multiply_rows<0, i, first>(sums, x, k);
        for (int q = 0; q < count; ++q) sums_[at + q][k] = sums[q];
      }
      multiply<at + count, i, first + count, end>(x);
    }
  }
  /// Adds x[first] to the sum at `at`, and so on to x[end - 1].
  template <int at, int first, int end>
  KOKKOS_FORCEINLINE_FUNCTION void add(const Columns& x) {
    constexpr int left = end - first, count = together < left ? together : left;
    if constexpr (count > 0) {
      for (int k = 0; k < wide; ++k) {
        double sums[count];
        for (int q = 0; q < count; ++q) sums[q] = sums_[at + q][k];
        for (int group = 0; group < run; group += wide)
          for (int q = 0; q < count; ++q) sums[q] += x[first + q][group + k];
        for (int q = 0; q < count; ++q) sums_[at + q][k] = sums[q];
      }
      add<at + count, first + count, end>(x);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void leave(double (&sums)[n]) const {
    for (int i = 0; i < n; ++i) {
      sums[i] = sums_[i][0];
      for (int k = 1; k < wide; ++k) sums[i] += sums_[i][k];
    }
  }

 private:
  struct Run {
    blocks::Pack<T, pack* int{sizeof(T)}> packs[numbers.tile][columns];
    template <class Data>
    KOKKOS_FORCEINLINE_FUNCTION void load(const Data& data, std::int64_t number) {
      for (int t = 0; t < numbers.tile; ++t)
        for (int c = 0; c < columns; ++c) packs[t][c] = data.pack_of(c, number * numbers.tile + t);
    }
    KOKKOS_FORCEINLINE_FUNCTION void widen(double (&x)[columns][run]) const {
      for (int t = 0; t < numbers.tile; ++t)
        for (int c = 0; c < columns; ++c)
          for (int k = 0; k < pack; ++k) x[c][t * pack + k] = static_cast<double>(packs[t][c].values[k]);
    }
  };

  /// All runs ahead; each is replaced by run `next(d)` before its products are added.
  template <class Pairs, int d, class Data, class Next>
  KOKKOS_FORCEINLINE_FUNCTION void add_runs(const Data& data, Run (&ahead)[depth], const Next& next) {
    if constexpr (d < depth) {
      double x[columns][run];
      ahead[d].widen(x);
      ahead[d].load(data, next(d));
      Pairs::add(*this, x);
      add_runs<Pairs, d + 1>(data, ahead, next);
    }
  }
  /// Those of the runs ahead, from `number` on, that are there: not all.
  template <class Pairs, int d, class Share>
  KOKKOS_FORCEINLINE_FUNCTION void add_rest(const Run (&ahead)[depth], std::int64_t number, const Share& mine) {
    if constexpr (d + 1 < depth) {
      if (number >= mine.end) return;
      double x[columns][run];
      ahead[d].widen(x);
      Pairs::add(*this, x);
      add_rest<Pairs, d + 1>(ahead, number + mine.stride, mine);
    }
  }
  template <int group, int i, int first, int count>
  KOKKOS_FORCEINLINE_FUNCTION static void multiply_rows(double (&sums)[count], const Columns& x, int k) {
    if constexpr (group < run) {
      for (int q = 0; q < count; ++q) sums[q] += x[i][group + k] * x[first + q][group + k];
      multiply_rows<group + wide, i, first>(sums, x, k);
    }
  }
  double sums_[n][wide] = {};
};

/// What the last team needs to add the sums of all teams.
struct Finish {
  Values<double> partials, sums;
  Values<unsigned> ticket;
  int begin;  ///< of these sums among all
  int lanes;  ///< of a team
};

/// The columns of a block of features, then the target.
template <class T, int width>
struct OfBlock {
  static constexpr int columns = width + 1, n = Gram::of_block(width), of_target = width * (width + 1) / 2;
  static constexpr bool target = true;
  template <class Sums>
  KOKKOS_FORCEINLINE_FUNCTION static void add(Sums& sums, const typename Sums::Columns& x) {
    add_rows<0, 0>(sums, x);
    sums.template multiply<of_target, width, 0, width>(x);
    sums.template add<of_target + width, 0, columns>(x);
    sums.template multiply<n - 1, width, width, columns>(x);
  }
  template <int at, int i, class Sums>
  KOKKOS_FORCEINLINE_FUNCTION static void add_rows(Sums& sums, const typename Sums::Columns& x) {
    if constexpr (i < width) {
      sums.template multiply<at, i, i, width>(x);
      add_rows<at + width - i, i + 1>(sums, x);
    }
  }
};
/// The columns of two blocks of features.
template <class T, int width>
struct OfPair {
  static constexpr int columns = 2 * width, n = width * width;
  static constexpr bool target = false;
  template <class Sums, int i = 0>
  KOKKOS_FORCEINLINE_FUNCTION static void add(Sums& sums, const typename Sums::Columns& x) {
    if constexpr (i < width) {
      sums.template multiply<i * width, i, width, columns>(x);
      add<Sums, i + 1>(sums, x);
    }
  }
};

/// The last team adds the sums of all teams.
template <class T, class Pairs>
struct AddProducts {
  static constexpr int n = Pairs::n;
  using Sums = Products<T, Pairs::columns, n>;
  using Data = ColumnViews<T, Pairs::columns, Sums::pack, Pairs::target>;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const blocks::TeamSums<n> adder(team, finish.lanes);
    const std::int64_t first = std::int64_t{team.league_rank()} * finish.lanes;
    adder.over_league(
        finish.partials, finish.ticket,
        [&](int lane, double (&mine)[n]) {
          Sums sums;
          sums.template add_all<Pairs>(data, first + lane, std::int64_t{team.league_size()} * finish.lanes);
          sums.leave(mine);
        },
        [&](int i, double sum) { finish.sums(finish.begin + i) = sum; });
  }
  Data data;
  Finish finish;
};

/// Lanes that share a multiprocessor: sums fill a lane's registers.
template <int width>
inline constexpr int max_gram_lanes = width == 1   ? 1024
                                      : width <= 4 ? 512
                                                   : 256;

/// The pass over the rows of a method `Base`.
template <class T, int width, class Base>
class GramPass final : public Base {
  using Block = AddProducts<T, OfBlock<T, width>>;
  static constexpr int most = std::max(Gram::of_block(width), width == Gram::pair_width ? width * width : 0);

 public:
  GramPass(const LinearRegression& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), rows_(*this, problem) {
    this->declare_zeroed(ticket_, "linear_regression/ticket", 1);
  }
  Launch configure(Launch launch) override {
    using Sums = blocks::TeamSums<most>;
    launch_ = this->planned(launch, gram_numbers<T>, max_gram_lanes<width>, Block::Sums::run,
                            [](int lanes) { return Sums::bytes(lanes) <= kokkos::scratch_limit(Sums::level); });
    this->declare(partials_, "linear_regression/partials", std::int64_t{launch_.league} * most);
    return launch_;
  }
  void accumulate() const override {
    const Columns<T> data = rows_.here();
    const Gram gram(data.features);
    for (int a = 0; a < gram.blocks; ++a) add<Block>(columns_of(data, a), gram.begin(a, a));
    if constexpr (width == Gram::pair_width)
      for (int a = 0; a < gram.blocks; ++a)
        for (int b = a + 1; b < gram.blocks; ++b)
          add<AddProducts<T, OfPair<T, width>>>(columns_of(data, a, b), gram.begin(a, b));
  }

 private:
  /// The features of block `a` with the target; or those of block `a`, which is whole, and of block `b`.
  static Columns<T> columns_of(const Columns<T>& data, int a, int b = -1) {
    Columns<T> some{.y = data.y, .rows = data.rows};
    for (const int block : {a, b})
      for (int f = block * width; block >= 0 && f < std::min((block + 1) * width, data.features); ++f)
        some.x[some.features++] = data.x[f];
    return some;
  }
  template <class Kernel>
  void add(const Columns<T>& data, int begin) const {
    using Sums = blocks::TeamSums<Kernel::n>;
    const int lanes = launch_.team * launch_.vector;
    const Kernel kernel{typename Kernel::Data(data),
                        {partials_.view(), this->sums_.view(), ticket_.view(), begin, lanes}};
    submit(this->queue(), "linear_regression/products",
           policy_of<max_gram_lanes<width>>(this->exec_, launch_, Sums::bytes(lanes), Sums::level), kernel);
  }

  DeviceRows<T> rows_;
  Launch launch_;
  Array<double> partials_;
  Array<unsigned> ticket_;
};

inline WrittenModel once_gram() {
  return written_once<float, double>(model, []<class T>(Of<T>) { return blocks::named(gram_numbers<T>); });
}

}  // namespace league::kokkos::linear_regression
