// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/loops/kokkos_memory.hpp"

/// The convolutions' gradients over all teams, the update, and the hits of a test.
namespace league::cnn::kokkos_model {

/// Adds the teams' sums of the convolutions' gradients: a team `columns` packs of `width`, whose teams `sums` lanes
/// share; `depth` are loaded together.
inline constexpr Numbers of_partials =
    blocks::by_kind({.columns = 32, .width = 1, .depth = 12, .sums = 8, .team = 256, .teams = 2},
                    {.columns = 8, .width = blocks::host_vector_bytes / 4, .depth = 1, .sums = 1, .team = 1});

struct AddPartials : BatchKernel {
  static constexpr Numbers numbers = of_partials;
  static constexpr int width = numbers.width, columns = numbers.columns, values = columns * width, lanes = numbers.team;
  static constexpr int items = fc1_weights / values;
  static_assert(items * values == fc1_weights);

  Vector<const float> partials;
  blocks::StepSize<float>* size;
  int teams;

  static std::size_t bytes() { return Scratch<float>::shmem_size(numbers.sums * values); }
  LEAGUE_FLAT KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Scratch<float> parts(team.team_scratch(0), std::size_t{numbers.sums * values});
    const int rank = blocks::rank(team);
    const auto mine = blocks::share(team.league_rank(), team.league_size(), items);
    for (int item = mine.first; item < mine.end; item += mine.stride) {
      blocks::meet(team);
      for (int part = rank; part < numbers.sums * columns; part += lanes) {
        const int at = item * values + part % columns * width;
        float sums[width] = {};
        add_in_order<numbers.depth>(part / columns, teams, numbers.sums, sums,
                                    [&](int n, int k) { return partials(std::int64_t{n} * fc1_weights + at + k); });
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) parts(part * width + k) = sums[k];
      }
      blocks::meet(team);
      for (int at = rank; at < values; at += lanes) {
        float sum = 0;
        for (int n = 0; n < numbers.sums; ++n) sum += parts(n * values + at);
        s.gradient[Partials::parameter(item * values + at)] = sum;
      }
      if (item == 0 && rank == 0) *size = s.step_size();  // for the update, which also counts the step
    }
  }
};

/// Updates `depth` packs of `width` parameters, which are loaded together.
inline constexpr Numbers of_update =
    blocks::by_kind({.width = 1, .depth = 4}, {.width = blocks::host_vector_bytes / 4, .depth = 1});

struct UpdateAll {
  static constexpr int width = of_update.width, depth = of_update.depth;
  static constexpr int elements = ceil_div(parameters, width* depth);
  State s;
  Memory memory;

  LEAGUE_FLAT KOKKOS_FUNCTION void operator()(int element) const {
    constexpr int whole = parameters / width;  // packs
    const blocks::StepSize<float> size = *memory.size;
    const bool has_state = blocks::states_of(s.optimizer) > 0;
    float weights[depth][width], first[depth][width] = {}, second[depth][width] = {}, gradients[depth][width];
    blocks::unrolled<depth>([&](int d) {
      const int pack = element + d * elements, at = pack * width;
      if (pack >= whole) return;
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) weights[d][k] = s.weights[at + k], gradients[d][k] = s.gradient[at + k];
      if (!has_state) return;
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) first[d][k] = s.state[at + k], second[d][k] = s.state[parameters + at + k];
    });
    blocks::unrolled<depth>([&](int d) {
      const int pack = element + d * elements, at = pack * width;
      if (pack >= whole) {
        for (int i = at; i < parameters && i < at + width; ++i) s.update(i, size);  // behind the last pack
        return;
      }
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) {
        const blocks::Weight<float> weight = blocks::advanced(s.optimizer, {weights[d][k], first[d][k], second[d][k]},
                                                              gradients[d][k], size, State::Net::adam_epsilon);
        weights[d][k] = weight.value, first[d][k] = weight.first, second[d][k] = weight.second;
      }
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) s.weights[at + k] = weights[d][k];
      if (has_state) {
        LEAGUE_VECTORISED
        for (int k = 0; k < width; ++k) s.state[at + k] = first[d][k], s.state[parameters + at + k] = second[d][k];
      }
      for (int k = 0; k < width; ++k)
        if (at + k < PackWeights::end) PackWeights{s, memory}(at + k);
    });
    if (element == 0) s.end_step();
  }
};

/// Counts the test images that are classified right.
struct CountRight {
  State s;
  static constexpr Numbers numbers = blocks::by_kind({.team = 256, .teams = 1}, {.team = 1});
  static std::size_t bytes() { return 0; }
  LEAGUE_FLAT KOKKOS_FUNCTION void operator()(const Member& team) const {
    std::int64_t right = 0;
    for (std::int64_t i = blocks::rank(team); i < s.test_count; i += numbers.team)
      right += s.predictions[i] == s.test_labels[s.test_first + i] ? 1 : 0;
    team.team_reduce(Kokkos::Sum<std::int64_t>(right));
    if (blocks::rank(team) == 0) *s.correct_here = right;
  }
};

}  // namespace league::cnn::kokkos_model
