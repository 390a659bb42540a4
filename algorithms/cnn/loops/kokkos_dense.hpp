// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/loops/kokkos_memory.hpp"

/// The dense layers forward, and the loss.
namespace league::cnn::kokkos_model {

/// A team's tile of the first dense layer: `tile` images x all neurons, over a slice of its inputs, `depth` at a time.
/// A lane has `rows` x `values` sums, each in `sums` parts side by side.
inline constexpr Numbers of_dense =
    blocks::by_kind({.tile = 64, .width = 4, .rows = 4, .depth = 32, .values = 8, .sums = 1, .team = 256, .teams = 2},
                    {.tile = 64,
                     .width = blocks::host_vector_bytes / 4,
                     .rows = 4,
                     .depth = 64,
                     .values = blocks::host_vectors / 8,
                     .sums = blocks::host_vector_bytes / 4,
                     .team = 1,
                     .teams = 16});

struct Dense : BatchKernel {
  static constexpr Numbers numbers = of_dense;
  static constexpr int width = numbers.width, rows = numbers.rows, columns = numbers.values, side = numbers.sums;
  static constexpr int down = numbers.tile / rows, across = hidden / columns, items = down * across;
  static constexpr int lanes = numbers.team, packs = numbers.depth / width;
  static_assert(items % lanes == 0 && down % 4 == 0 && across % 8 == 0);

  using Pack = blocks::PackOf<float, width>;
  using Images = blocks::StagedRows<Pack, numbers.tile, packs, lanes, 1>;
  using Neurons = blocks::StagedRows<Pack, hidden, packs, lanes, 1>;

  blocks::Packs<const float, width> p, weights;  ///< [images][packs], [neurons][packs]
  Vector<float> products;
  int slices;

  static std::size_t bytes() { return Images::scratch_bytes() + Neurons::scratch_bytes(); }
  static int tiles(int images) { return (images + numbers.tile - 1) / numbers.tile; }
  /// The number of slices that minimises the work of the busiest of `teams / numbers.teams` processors; of equal ones
  /// the largest, up to `numbers.teams` teams on each.
  static int slices_for(int images, int teams) {
    int best = 1, min_work = pooled * tiles(images) + 1;
    const int processors = std::max(teams / numbers.teams, 1);
    for (int slices = 1; slices <= pooled / numbers.depth; ++slices) {
      const int rounds = ceil_div(tiles(images) * slices, processors);
      if (pooled / numbers.depth % slices != 0 || (slices > 1 && rounds > numbers.teams)) continue;
      if (rounds * (pooled / slices) <= min_work) best = slices, min_work = rounds * (pooled / slices);
    }
    return best;
  }
  LEAGUE_FLAT KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Take images = take();
    const int rank = blocks::rank(team), slice = pooled / slices;
    Images a(team);
    Neurons b(team);
    a.read(p, pooled / width), b.read(weights, pooled / width);
    const auto mine = blocks::share(team.league_rank(), team.league_size(),
                                    (images.count + numbers.tile - 1) / numbers.tile * slices);
    for (int tile = mine.first; tile < mine.end; tile += mine.stride) {
      const int first = tile / slices * numbers.tile, number = tile % slices, here = images.count - first;
      const std::int64_t from = number * (slice / width), row0 = std::int64_t{first} * (pooled / width);
      for (int item = rank; item < items; item += lanes) {
        const int right = item / 32 % (across / 8) * 8 + item % 8, top = item / 32 / (across / 8) * 4 + item / 8 % 4;
        float sums[rows][columns][side] = {};
        a.fetch(rank, row0 + from, here), b.fetch(rank, from, hidden);
        for (int k0 = 0; k0 < slice / width; k0 += packs) {
          blocks::meet(team);
          a.put(rank), b.put(rank);
          blocks::meet(team);
          if (k0 + packs < slice / width)
            a.fetch(rank, row0 + from + k0 + packs, here), b.fetch(rank, from + k0 + packs, hidden);
          add(a, b, top, right, sums);
        }
        blocks::unrolled<rows * columns>([&](int n) {
          const int r = n / columns, v = n % columns, i = top + r * down;
          if (i < here)
            products((std::int64_t{number} * images.count + first + i) * hidden + right + v * across) =
                blocks::folded<side>(sums[r][v]);
        });
      }
    }
  }

 private:
  /// Adds the staged packs.
  KOKKOS_FORCEINLINE_FUNCTION static void add(const Images& a, const Neurons& b, int top, int right,
                                              float (&sums)[rows][columns][side]) {
    std::int64_t x[rows], y[columns];
    blocks::unrolled<rows>([&](int r) { x[r] = a.place(top + r * down); });
    blocks::unrolled<columns>([&](int v) { y[v] = b.place(right + v * across); });
    for (int q = 0; q < packs; ++q) {
      float left[rows][width], factors[columns][width];
      blocks::unrolled<rows>([&](int r) { load(a.at(x[r] + q), left[r]); });
      blocks::unrolled<columns>([&](int v) { load(b.at(y[v] + q), factors[v]); });
      for (int r = 0; r < rows; ++r)
        for (int v = 0; v < columns; ++v)
          for (int k = 0; k < width; k += side) {
            LEAGUE_VECTORISED
            for (int e = 0; e < side; ++e) sums[r][v][e] += left[r][k + e] * factors[v][k + e];
          }
    }
  }
};

/// An image's last layers, its loss and their gradients. A lane takes `width` neurons together, or one of `columns`
/// shares of a class' neurons; `sums` lanes share the slices of a neuron, of which `depth` are loaded together.
inline constexpr Numbers of_loss =
    blocks::by_kind({.columns = 16, .width = 1, .depth = 12, .sums = 2, .team = 256, .teams = 4},
                    {.columns = 1, .width = blocks::host_vector_bytes / 4, .depth = 1, .sums = 1, .team = 1});

struct Loss : BatchKernel {
  static constexpr Numbers numbers = of_loss;
  static constexpr int width = numbers.width, packs = hidden / width, parts = numbers.sums, shares = numbers.columns;
  static constexpr int lanes = numbers.team;

  Vector<const float> products;
  Vector<float> d_h;  ///< see `Memory`
  int slices, d_pitch;

  static std::size_t bytes() {
    return Scratch<float>::shmem_size(parts * hidden) + 2 * Scratch<float>::shmem_size(hidden) +
           Scratch<float>::shmem_size(classes * shares) + 2 * Scratch<float>::shmem_size(classes);
  }
  LEAGUE_FLAT KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Take images = take();
    const auto& room = team.team_scratch(0);
    const Scratch<float> z(room, std::size_t{parts * hidden}), h(room, std::size_t{hidden});
    const Scratch<float> factors(room, std::size_t{hidden}), sums(room, std::size_t{classes * shares});
    const Scratch<float> logits(room, std::size_t{classes}), d(room, std::size_t{classes});
    const int rank = blocks::rank(team);
    const auto mine = blocks::share(team.league_rank(), team.league_size(), images.count);
    for (int i = mine.first; i < mine.end; i += mine.stride) {
      blocks::meet(team);  // the image before is done
      for (int item = rank; item < parts * packs; item += lanes) {
        const int part = item / packs, j = item % packs * width;
        float sum[width] = {};
        add_in_order<numbers.depth>(part, slices, parts, sum, [&](int n, int k) {
          return products((std::int64_t{n} * images.count + i) * hidden + j + k);
        });
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) z(part * hidden + j + k) = sum[k];
      }
      blocks::meet(team);
      for (int item = rank; item < packs; item += lanes) activate(images, i, item * width, z, h, factors);
      blocks::meet(team);
      for (int item = rank; item < classes * shares; item += lanes) {
        const int c = item / shares, share = item % shares;
        float sum[1][width] = {};
        for (int q = share; q < packs; q += shares) {
          LEAGUE_VECTORISED
          for (int k = 0; k < width; ++k)
            sum[0][k] += s.weights[fc2_weights + c * hidden + q * width + k] * h(q * width + k);
        }
        sums(item) = blocks::folded<width>(sum[0]);
      }
      blocks::meet(team);
      for (int c = rank; c < classes; c += lanes) {
        float sum = s.weights[fc2_biases + c];
        for (int n = 0; n < shares; ++n) sum += sums(c * shares + n);
        logits(c) = sum;
      }
      blocks::meet(team);
      Head head;
      for (int c = 0; c < classes; ++c) head.logits[c] = logits(c);
      if (!images.trains) {
        if (rank == 0) s.predictions[images.first - s.test_first + i] = head.best();
        continue;
      }
      const int label = images.labels[images.number(i)];
      for (int c = rank; c < classes; c += lanes)
        s.d_logits[i * classes + c] = d(c) = head.gradient(c, label, images.share);
      if (rank == lanes - 1) s.losses[i] = head.loss(label);
      blocks::meet(team);
      for (int item = rank; item < packs; item += lanes) differentiate(i, item * width, d, h, factors);
    }
  }

 private:
  /// ReLU and dropout of neurons from `j` on, and their factor in the gradient.
  KOKKOS_FORCEINLINE_FUNCTION void activate(const Take& images, int i, int j, const Scratch<float>& z,
                                            const Scratch<float>& h, const Scratch<float>& factors) const {
    const Dropout dropout = s.dropout_of(images);
    const auto scale = dropout.hidden_scale<float>();
    const std::uint64_t word = dropout.word(images.step, images.position(i), Dropout::pooled_words + j / 64);
    float value[width];
    LEAGUE_VECTORISED
    for (int k = 0; k < width; ++k) value[k] = s.weights[fc1_biases + j + k];
    for (int part = 0; part < parts; ++part) {
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) value[k] += z(part * hidden + j + k);
    }
    for (int k = 0; k < width; ++k) {
      const float factor = value[k] > 0 && Dropout::keeps_hidden(word, j + k) ? scale : 0;
      factors(j + k) = factor;
      h(j + k) = factor * value[k];
    }
    if (images.trains)
      for (int k = 0; k < width; ++k) s.hidden_decisions[i * hidden + j + k] = value[k] > 0 ? 1 : 0;
  }
  /// The gradient of neurons from `j` on.
  KOKKOS_FORCEINLINE_FUNCTION void differentiate(int i, int j, const Scratch<float>& d, const Scratch<float>& h,
                                                 const Scratch<float>& factors) const {
    float sum[width] = {};
    for (int c = 0; c < classes; ++c) {
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) sum[k] += d(c) * s.weights[fc2_weights + c * hidden + j + k];
    }
    for (int k = 0; k < width; ++k) {
      sum[k] *= factors(j + k);
      s.h[i * hidden + j + k] = h(j + k);
      s.d_h[i * hidden + j + k] = sum[k];
      d_h((j + k) * d_pitch + i) = sum[k];
    }
  }
};

}  // namespace league::cnn::kokkos_model
