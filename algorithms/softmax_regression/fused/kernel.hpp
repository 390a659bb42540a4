// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/blocks/recomputed.hpp"
#include "algorithms/softmax_regression/common/row.hpp"
#include "backends/launch.hpp"

/// The work of a thread of the `fused` kernels between barriers, the same in CUDA and Kokkos. `Words`: see
/// blocks/words.hpp.
namespace league::softmax_regression {

/// A team's tile. For the logits a thread takes four neighbouring rows, half of `classes_together` classes, and a slice
/// of the features; the partial logits of the slices are added in scratch, `slots` slices at a time.
template <class T>
struct Tile {
  static constexpr int rows = 32 / static_cast<int>(sizeof(T)), thread_rows = 4, groups = rows / thread_rows;
  static constexpr int thread_classes = classes_together / 2, slots = 64 / groups;
  static constexpr int slot_size = rows * classes_together;
  using Logits = Quad[thread_classes];  ///< of four rows, per class

  /// Mapping of threads: fastest over groups of rows, then the half of the classes, then the slices.
  LEAGUE_FUNCTION static int group(int thread) { return thread % groups; }
  LEAGUE_FUNCTION static int half(int thread) { return thread / groups % 2; }
  LEAGUE_FUNCTION static int slice(int thread) { return thread / (2 * groups); }

  /// Words per row in scratch: odd, to avoid bank conflicts.
  LEAGUE_FUNCTION static int pitch(int quads) { return quads | 1; }

  /// Scratch for the slots, the logits and `quads` quads of each row.
  LEAGUE_FUNCTION static int scratch_bytes(int quads, int classes) {
    const int words = slots * slot_size + rows * turns(classes) * turn_pitch;
    return 4 * words + (quads > 0 ? rows * pitch(quads) * 4 * static_cast<int>(sizeof(T)) : 0);
  }
};

/// Maximum quads for rows kept in scratch, with one thread per quad that keeps its sums in registers.
inline constexpr int resident_quads = 224;
/// In that case, the stride of the weights of a class in floats: a compile-time constant, not a power of two.
inline constexpr int resident_pitch = 4 * (resident_quads + 4);
inline constexpr int weights_bytes = classes_together * resident_pitch * 4;
/// Arguments of the kernels. A team's partial gradient has the layout of `Descent`: floats if it is accumulated in
/// registers, doubles if tiles are added to it in memory.
template <class T>
struct FusedWork {
  const T* x;
  const std::int32_t* labels;
  Descent descent;
  void* partials;  ///< [teams][classes][pitch]
  double* losses;  ///< [teams]
  int quads;       ///< of features, including that of the biases

  using Word = WordOf<T>;
  [[nodiscard]] LEAGUE_FUNCTION const Word* words(std::int64_t row) const {
    return reinterpret_cast<const Word*>(x + row * descent.pitch);
  }
  /// A thread's weights for a turn of classes.
  [[nodiscard]] LEAGUE_FUNCTION const Quad* weights(int turn, int half) const {
    return reinterpret_cast<const Quad*>(descent.weights) +
           (turn * classes_together + half * Tile<T>::thread_classes) * (descent.weights_pitch / 4);
  }
  /// Stores a thread's sums for a quad, or adds them to those stored, and resets them.
  LEAGUE_FUNCTION void store(std::int64_t team, int quad, bool stored, Quad (&gradient)[classes_together]) const {
    Quad* to = static_cast<Quad*>(partials) + team * descent.classes * (descent.pitch / 4) + quad;
    for (int c = 0; c < classes_together; ++c, to += descent.pitch / 4) {
      if (c < descent.classes && stored) *to = *to + gradient[c];
      if (c < descent.classes && !stored) *to = gradient[c];
      gradient[c] = {};
    }
  }
  LEAGUE_FUNCTION void clear(std::int64_t team, int thread, int threads) const {
    double* to = static_cast<double*>(partials) + team * descent.classes * descent.pitch;
    for (int i = thread; i < descent.classes * descent.pitch; i += threads) to[i] = 0;
  }
  LEAGUE_FUNCTION void add(std::int64_t team, int turn, int quad, const Quad (&gradient)[classes_together]) const {
    const int first = turn * classes_together;
    double* to = static_cast<double*>(partials) + (team * descent.classes + first) * descent.pitch + 4 * quad;
    for (int c = 0; c < classes_together && first + c < descent.classes; ++c, to += descent.pitch)
      for (int k = 0; k < 4; ++k) to[k] += static_cast<double>(gradient[c].values[k]);
  }
};

/// Prefetch: a quad of each row of half a tile, loaded into registers during the computation, then stored to scratch.
template <class T, class Words>
struct Column {
  using Word = WordOf<T>;
  static constexpr int rows = Tile<T>::rows / 2;
  Word words[rows] = {};

  /// Loads `count` rows, `pitch` words apart; zeros for the others.
  LEAGUE_FUNCTION void fetch(const Word* from, int pitch, int count) {
    for (int row = 0; row < rows; ++row) words[row] = row < count ? Words::load_once(from + row * pitch) : Word{};
  }
  LEAGUE_FUNCTION void put(Word* to, int pitch) const {
    for (int row = 0; row < rows; ++row) to[row * pitch] = words[row];
  }
};

/// Adds a slice's partial logits of four rows, at x + places[0], ...
template <class T, class Words>
LEAGUE_FUNCTION void add_logits(const WordOf<T>* x, const int (&places)[Tile<T>::thread_rows], const Quad* weights,
                                int weights_pitch, int slice, int slices, int quads, typename Tile<T>::Logits& z) {
  for (int q = slice; q < quads; q += slices) {
    Quad features[Tile<T>::thread_rows];
    for (int row = 0; row < Tile<T>::thread_rows; ++row) features[row] = Words::widen(x[places[row] + q]);
    for (int c = 0; c < Tile<T>::thread_classes; ++c) {
      const Quad w = weights[c * weights_pitch + q];
      for (int row = 0; row < Tile<T>::thread_rows; ++row)
        for (int k = 0; k < 4; ++k) z[c].values[row] += features[row].values[k] * w.values[k];
    }
  }
}

/// Stores or adds them to this round's slots; the last round comes first.
template <class T>
LEAGUE_FUNCTION void put_logits(const typename Tile<T>::Logits& z, int thread, int slices, float* slots) {
  const int slice = Tile<T>::slice(thread);
  Quad* to = reinterpret_cast<Quad*>(slots + slice % Tile<T>::slots * Tile<T>::slot_size) + Tile<T>::group(thread) +
             Tile<T>::half(thread) * Tile<T>::thread_classes * Tile<T>::groups;
  const bool first = slice + Tile<T>::slots >= slices;
  for (int c = 0; c < Tile<T>::thread_classes; ++c)
    to[c * Tile<T>::groups] = first ? z[c] : to[c * Tile<T>::groups] + z[c];
}

/// Adds the slots up into the rows' logits of one turn.
template <class T>
LEAGUE_FUNCTION void sum_logits(const float* slots, int slices, float* logits, int logits_pitch, int thread,
                                int threads) {
  for (int i = thread; i < Tile<T>::slot_size; i += threads) {
    float sum = 0;
    if (slices >= Tile<T>::slots)
      for (int slot = 0; slot < Tile<T>::slots; ++slot) sum += slots[slot * Tile<T>::slot_size + i];
    else
      for (int slot = 0; slot < slices; ++slot) sum += slots[slot * Tile<T>::slot_size + i];
    logits[i % Tile<T>::rows * logits_pitch + i / Tile<T>::rows] = sum;
  }
}

/// gradient += residuals x features of `rows` rows, for one quad of features and a turn of classes.
template <class T, class Words>
LEAGUE_FUNCTION void add_gradient(const WordOf<T>* x, int pitch, const float* residuals, int residuals_pitch, int rows,
                                  Quad (&gradient)[classes_together]) {
  for (int row = 0; row < rows; ++row) {
    const Quad features = Words::widen(x[std::int64_t{row} * pitch]);
    const float* from = residuals + row * residuals_pitch;
    const Quad r[] = {reinterpret_cast<const Quad*>(from)[0], reinterpret_cast<const Quad*>(from)[1]};
    const auto last = *reinterpret_cast<const blocks::Pack<float, 8>*>(from + 8);
    for (int c = 0; c < classes_together; ++c)
      for (int k = 0; k < 4; ++k)
        gradient[c].values[k] += features.values[k] * (c < 8 ? r[c / 4].values[c % 4] : last.values[c % 2]);
  }
}

/// The launch of the fused kernels, and whether teams keep the gradient in registers.
struct Plan {
  Launch launch;
  bool resident = false;
  int scratch_bytes = 0;
  [[nodiscard]] int partial_bytes() const { return resident ? 4 : 8; }
};
/// For rows of `quads` quads. Default: a thread per quad, at least 128 in all so that the multiprocessor has warps for
/// its four schedulers; with few quads, of which threads would be idle, 32; the teams that are resident at once, with
/// two tiles each where there are enough.
/// @throws Unsupported naming the limit that the launch exceeds
template <class T>
Plan plan(Launch requested, const LaunchLimits& limits, int quads, int classes, std::int64_t rows,
          int multiprocessors) {
  constexpr int step = 64, few_quads = 32, resident_threads = 512;
  const int threads = quads <= few_quads ? 32 : std::clamp(ceil_div(quads, step) * step, 2 * step, max_threads);
  Plan plan{resolve(requested, {0, threads, 1}, limits)};
  if (plan.launch.vector != 1)
    throw Unsupported("vector length " + std::to_string(plan.launch.vector) +
                      ": each thread of this kernel keeps its own sums, it takes 1");
  if (plan.launch.team < Tile<T>::rows || plan.launch.team > max_threads)
    throw Unsupported("team size " + std::to_string(plan.launch.team) + ": this kernel takes " +
                      std::to_string(Tile<T>::rows) + " to " + std::to_string(max_threads) + " threads");
  plan.resident = turns(classes) == 1 && quads <= std::min(resident_quads, plan.launch.team);
  plan.scratch_bytes = Tile<T>::scratch_bytes(plan.resident ? quads : 0, classes);
  const std::int64_t tiles = ceil_div<std::int64_t>(rows, Tile<T>::rows);
  const std::int64_t wanted = std::max(std::min<std::int64_t>(tiles, 2 * multiprocessors), tiles / 2);
  if (plan.launch.league == 0)
    plan.launch.league =
        league_of(std::min<std::int64_t>(multiprocessors * (resident_threads / plan.launch.team), wanted));
  return plan;
}

}  // namespace league::softmax_regression
