// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/loops/kokkos_memory.hpp"

/// The dense layers backward.
namespace league::cnn::kokkos_model {

/// A team's tile of a product, `tile` x `columns`, over a depth of which `depth` rows of both factors are staged at a
/// time. A lane has `rows` x `values` packs of sums; `height` rows are multiplied without a test.
inline constexpr Numbers of_product = blocks::by_kind(
    {.tile = 64, .columns = 128, .width = 4, .rows = 4, .height = 8, .depth = 32, .values = 2, .team = 256},
    {.tile = 128,
     .columns = 3 * blocks::host_vector_bytes / 4,
     .width = blocks::host_vector_bytes / 4,
     .rows = blocks::host_vectors / 4,
     .height = 1,
     .depth = 128,
     .values = 3,
     .team = 1});

struct Product {
  static constexpr Numbers numbers = of_product;
  static constexpr int width = numbers.width, rows = numbers.rows, packs = numbers.values, depth = numbers.depth;
  static constexpr int down = numbers.tile / rows, across = numbers.columns / (packs * width), items = down * across;
  static constexpr int lanes = numbers.team, near = std::min(across, 8);  ///< lanes side by side
  static_assert(items % lanes == 0 && down % 4 == 0 && across % near == 0 && numbers.columns % (packs * width) == 0);

  using Left = blocks::StagedRows<blocks::PackOf<float, rows>, depth, down, lanes>;
  using Right = blocks::StagedRows<blocks::PackOf<float, width>, depth, packs * across, lanes>;
  using Sums = float[rows][packs][width];

  static std::size_t bytes() { return Left::scratch_bytes() + Right::scratch_bytes(); }

  Left a;
  Right b;

  KOKKOS_FORCEINLINE_FUNCTION explicit Product(const Member& team) : a(team), b(team) {}

  /// sum[row][column] = the sum over k < `count` of left[k][row] right[k][column], from packs `first_a` and `first_b`
  /// on. `load(row, pack, sums)` loads what `store(row, pack, sums)` has stored before the last rows: lanes with
  /// several items do so.
  template <class Load, class Store>
  KOKKOS_FORCEINLINE_FUNCTION void run(const Member& team, std::int64_t first_a, std::int64_t first_b,
                                       std::int64_t pitch_a, std::int64_t pitch_b, int count, const Load& load,
                                       const Store& store) {
    const int rank = blocks::rank(team);
    Sums sums;
    a.fetch(rank, first_a, count), b.fetch(rank, first_b, count);
    for (int k0 = 0; k0 == 0 || k0 < count; k0 += depth) {
      const bool last = k0 + depth >= count;
      blocks::meet(team);
      a.put(rank), b.put(rank);
      blocks::meet(team);
      const int next = k0 + depth;
      if (!last)
        a.fetch(rank, first_a + next * pitch_a, count - next), b.fetch(rank, first_b + next * pitch_b, count - next);
      for (int item = rank; item < items; item += lanes) {
        const int right = item / (4 * near) % (across / near) * near + item % near;
        const int top = item / (4 * near) / (across / near) * 4 + item / near % 4;
        blocks::unrolled<rows * packs>([&](int n) {
          const int r = n / packs, v = n % packs;
          if (k0 == 0) {
            LEAGUE_VECTORISED
            for (int k = 0; k < width; ++k) sums[r][v][k] = 0;
          } else if (items > lanes) {
            load(top * rows + r, right + v * across, sums[r][v]);
          }
        });
        add(top, right, last ? count - k0 : depth, sums);
        if (items > lanes || last)
          blocks::unrolled<rows * packs>(
              [&](int n) { store(top * rows + n / packs, right + n % packs * across, sums[n / packs][n % packs]); });
      }
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void add(int top, int right, int here, Sums& sums) const {
    for (int d0 = 0; d0 < here; d0 += numbers.height)
      blocks::unrolled<numbers.height>([&](int n) {
        float left[rows], factors[packs][width];
        load(a.at(a.place(d0 + n) + top), left);
        blocks::unrolled<packs>([&](int v) { load(b.at(b.place(d0 + n) + right + v * across), factors[v]); });
        blocks::unrolled<rows * packs>([&](int of) {
          const int r = of / packs, v = of % packs;
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) sums[r][v][k] += left[r] * factors[v][k];
        });
      });
  }
};

/// The last layer's gradient, that of the first one's biases, and the loss: sums over images. A team takes `columns`
/// packs of them, whose images `sums` lanes share; `depth` images are loaded together.
inline constexpr Numbers of_small =
    blocks::by_kind({.columns = 32, .width = 1, .depth = 12, .sums = 8, .team = 256},
                    {.columns = 8, .width = blocks::host_vector_bytes / 4, .depth = 1, .sums = 1, .team = 1});

/// The dense layers, backward. The first teams take the gradient of the first layer's inputs, the next that of its
/// weights, the last the small sums.
struct DenseBackward : BatchKernel {
  static constexpr Numbers numbers = of_product;
  static constexpr int across = pooled / numbers.columns, weight_tiles = hidden / numbers.tile * across;
  static constexpr int small_packs = (1 + classes) * hidden / of_small.width, lanes = numbers.team;
  static constexpr int small_items = ceil_div(small_packs, of_small.columns) + 1;
  static_assert(pooled / numbers.columns * numbers.columns == pooled &&
                hidden / numbers.tile * numbers.tile == hidden && of_small.team == numbers.team);
  static_assert(classes + 1 <= of_small.columns * of_small.width && of_small.columns * of_small.sums >= lanes);

  using Rows = blocks::Packs<const float, Product::rows>;
  using Columns = blocks::Packs<const float, Product::width>;

  Rows d_h, transposed;                                ///< [images][packs], [hidden][packs]
  Columns p, weights;                                  ///< [images][packs], [hidden][packs]
  blocks::Packs<float, Product::width> d_p, gradient;  ///< likewise
  int pitch;                                           ///< of `transposed`, in packs

  static std::size_t bytes() {
    return Product::bytes() + Scratch<float>::shmem_size(of_small.sums * of_small.columns * of_small.width);
  }
  KOKKOS_FORCEINLINE_FUNCTION static int input_tiles(int images) {
    return (images + numbers.tile - 1) / numbers.tile * across;
  }
  static int items(int images) { return input_tiles(images) + weight_tiles + small_items; }

  LEAGUE_FLAT KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Take images = take();
    const int tiles = input_tiles(images.count);
    const auto mine = blocks::share(team.league_rank(), team.league_size(), tiles + weight_tiles + small_items);
    const Scratch<float> parts(team.team_scratch(0), std::size_t{of_small.sums * of_small.columns * of_small.width});
    Product product(team);
    for (int item = mine.first; item < mine.end; item += mine.stride) {
      if (item < tiles)
        inputs(team, product, images, item / across * numbers.tile, item % across * (numbers.columns / Product::width));
      else if (item < tiles + weight_tiles)
        neurons(team, product, images.count, (item - tiles) / across * numbers.tile,
                (item - tiles) % across * (numbers.columns / Product::width));
      else
        add_small(team, images, item - tiles - weight_tiles, parts);
    }
  }

 private:
  static constexpr int width = Product::width, row_packs = pooled / width;

  /// Back through dropout and ReLU behind the pool: where the output was above 0.
  KOKKOS_FORCEINLINE_FUNCTION void inputs(const Member& team, Product& product, const Take& images, int first,
                                          int pack) const {
    const auto scale = s.dropout_of(images).pooled_scale<float>();
    product.a.read(transposed, pitch), product.b.read(weights, row_packs);
    static_assert(Product::items == lanes || hidden <= Product::depth);
    product.run(
        team, first / Product::rows, pack, pitch, row_packs, hidden, [](int, int, float (&)[width]) {},
        [&](int row, int column, const float (&sums)[width]) {
          if (first + row >= images.count) return;
          const std::int64_t at = std::int64_t{first + row} * row_packs + pack + column;
          const blocks::LoadedPack<float, width> values = p(at);
          blocks::fill_pack(d_p, at, [&](auto& to) {
            LEAGUE_VECTORISED
            for (int k = 0; k < width; ++k) to.values[k] = values.values[k] > 0 ? scale * sums[k] : 0;
          });
        });
  }
  KOKKOS_FORCEINLINE_FUNCTION void neurons(const Member& team, Product& product, int images, int first,
                                           int pack) const {
    constexpr int pitch_h = hidden / Product::rows;
    product.a.read(d_h, pitch_h), product.b.read(p, row_packs);
    const auto place = [&](int row, int column) { return (first + row) * row_packs + pack + column; };
    product.run(
        team, first / Product::rows, pack, pitch_h, row_packs, images,
        [&](int row, int column, float (&sums)[width]) {
          const blocks::LoadedPack<float, width> values = gradient(place(row, column));
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k) sums[k] = values.values[k];
        },
        [&](int row, int column, const float (&sums)[width]) {
          blocks::fill_pack(gradient, place(row, column), [&](auto& to) {
            LEAGUE_VECTORISED
            for (int k = 0; k < width; ++k) to.values[k] = sums[k];
          });
        });
  }
  /// Some packs of the small sums; behind them the last layer's biases and the loss.
  KOKKOS_FORCEINLINE_FUNCTION void add_small(const Member& team, const Take& images, int number,
                                             const Scratch<float>& parts) const {
    constexpr int columns = of_small.columns, wide = of_small.width, values = columns * wide;
    const int rank = blocks::rank(team), first = number * values;
    const bool behind = number + 1 == small_items;
    blocks::meet(team);
    for (int item = rank; item < columns * of_small.sums; item += lanes) {
      const int at = first + item % columns * wide, row = at / hidden, j = at % hidden;
      float sums[wide] = {};
      if (behind) {
        LEAGUE_VECTORISED
        for (int k = 0; k < wide; ++k) sums[k] = last(images, item / columns, item % columns * wide + k);
      } else if (row == 0) {
        add_in_order<of_small.depth>(item / columns, images.count, of_small.sums, sums,
                                     [&](int i, int k) { return s.d_h[i * hidden + j + k]; });
      } else if (row <= classes) {
        add_in_order<of_small.depth>(item / columns, images.count, of_small.sums, sums, [&](int i, int k) {
          return s.d_logits[i * classes + row - 1] * s.h[i * hidden + j + k];
        });
      }
      LEAGUE_VECTORISED
      for (int k = 0; k < wide; ++k) parts(item * wide + k) = sums[k];
    }
    blocks::meet(team);
    for (int at = rank; at < values; at += lanes) {
      float sum = 0;
      for (int n = 0; n < of_small.sums; ++n) sum += parts(n * values + at);
      const int parameter = behind ? fc2_biases + at : fc1_biases + first + at;
      if (behind ? at <= classes : parameter < fc2_biases)
        s.gradient[parameter] = parameter == parameters ? sum * images.share : sum;
    }
  }
  /// A part of the sum of a bias of the last layer, or of the losses.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION float last(const Take& images, int part, int value) const {
    float sum[1] = {};
    if (value <= classes)
      add_in_order<of_small.depth>(part, images.count, of_small.sums, sum, [&](int i, int) {
        return value < classes ? s.d_logits[i * classes + value] : s.losses[i];
      });
    return sum[0];
  }
};

}  // namespace league::cnn::kokkos_model
