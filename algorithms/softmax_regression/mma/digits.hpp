// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/squares.hpp"
#include "algorithms/softmax_regression/common/row.hpp"

/// Number formats of the method `mma`. Pixels are signed bytes, value - 128; their weights and residuals are
/// fixed-point numbers of three signed bytes ("digits"), one column of the unit per byte: all sums are exact. Other
/// features, with their weights and residuals, are floats.
namespace league::softmax_regression {

template <class Unit>
struct MmaDigits {
  static constexpr bool bytes = std::is_same_v<typename Unit::Sum, std::int32_t>;
  static constexpr int digits = bytes ? 3 : 1;
  /// Columns of a turn of classes, digit by digit: column `digit * classes_together + c`.
  static constexpr int columns = digits * classes_together;
  static constexpr int units = (columns + blocks::mma::side - 1) / blocks::mma::side;
  static constexpr int fraction = 22;  ///< fraction bits of a fixed-point number in [-1, 1]
  static constexpr float one = 1 << fraction;
  static constexpr int moved = bytes ? 128 : 0;  ///< subtracted from pixels

  /// The digits of a fixed-point number; they have weights 65536, 256 and 1, and are in [-128, 127].
  LEAGUE_FUNCTION static void split(int number, std::int8_t (&out)[digits]) {
    constexpr std::uint32_t half = 0x808080;  // a digit, 128 more, is a byte of `number + half`
    const std::uint32_t all = (static_cast<std::uint32_t>(number) + half) ^ half;
    for (int digit = 0; digit < digits; ++digit) out[digit] = static_cast<std::int8_t>(all >> 8 * (digits - 1 - digit));
  }
  LEAGUE_FUNCTION static constexpr int weight_of(int digit) { return digits == 1 ? 1 : 1 << 8 * (digits - 1 - digit); }
  /// Rounds to nearest; clamps to [-1, 1], NaN too.
  LEAGUE_FUNCTION static int fixed(float value) {
    const float scaled = value * one;
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    const float clamped = fminf(fmaxf(scaled, -one), one);
#else
    const float clamped = !(scaled > -one) ? -one : scaled < one ? scaled : one;
#endif
    constexpr float middle = 0x1.8p23F;  // from 2^23 to 2^24 floats are whole, and their bits are neighbours
    return static_cast<int>(blocks::mma::bits_of(clamped + middle) - 0x4b400000U);
  }
  /// The power of two that divides a class's weights: larger than all of them, unless they are tiny.
  LEAGUE_FUNCTION static float scale_of(float largest) {
    const int exponent = static_cast<int>(blocks::mma::bits_of(largest) >> 23) + 1;
    return blocks::mma::float_of(static_cast<std::uint32_t>(exponent < 32    ? 32
                                                            : exponent > 250 ? 250
                                                                             : exponent)
                                 << 23);
  }

  /// Writes element `element` (of a square's depth), column `column` of operand B. `pieces`: [steps][units]
  LEAGUE_FUNCTION static void put(typename Unit::Word* pieces, int column, int element, typename Unit::Value value) {
    const int at = blocks::Squares<Unit>::depth_of(element);
    const int piece = at / Unit::depth * units + column / blocks::mma::side;
    reinterpret_cast<typename Unit::Value*>(pieces)[blocks::mma::value_of_b<Unit>(piece, column, at)] = value;
  }
};

/// The stored rows, and the same as squares; a batch starts with a new square.
template <class Unit, class T>
struct MmaRows {
  using Squares = blocks::Squares<Unit>;
  const T* stored;
  typename Unit::Word* packed;
  std::int64_t own_batch, own_last_batch, batches;
  int features, pitch, across, down;

  [[nodiscard]] LEAGUE_FUNCTION std::int64_t blocks() const {
    return batches * down * std::int64_t{across} * Squares::blocks;
  }
  /// Packs block `number`, one per thread. The constant feature of a row is 1, also among pixels.
  LEAGUE_FUNCTION void pack(std::int64_t number) const {
    const std::int64_t square = number / Squares::blocks, down_all = square / across, batch = down_all / down;
    const auto place = Squares::position(static_cast<int>(number % Squares::blocks));
    const std::int64_t row = down_all % down * Squares::side + place.row;
    const std::int64_t rows = batch + 1 < batches ? own_batch : own_last_batch;
    const int column = static_cast<int>(square % across) * Squares::side + place.column;
    typename Unit::Value values[Squares::edge * Squares::edge] = {};
    for (int i = 0; i < Squares::edge && column < pitch && row + i < rows; ++i) {
      using Elements = league::blocks::Pack<T, Squares::edge* static_cast<int>(sizeof(T))>;
      const Elements from = *reinterpret_cast<const Elements*>(stored + (batch * own_batch + row + i) * pitch + column);
      for (int k = 0; k < Squares::edge; ++k) values[i * Squares::edge + k] = value(from.values[k], column + k);
    }
    typename Squares::Packet packet;
    __builtin_memcpy(&packet, values, sizeof packet);
    reinterpret_cast<typename Squares::Packet*>(packed)[number] = packet;
  }

 private:
  [[nodiscard]] LEAGUE_FUNCTION typename Unit::Value value(T stored_value, int feature) const {
    using Digits = MmaDigits<Unit>;
    if constexpr (!Digits::bytes)
      return stored_value;
    else
      return static_cast<std::int8_t>(feature < features    ? static_cast<int>(stored_value) - Digits::moved
                                      : feature == features ? 1
                                                            : 0);
  }
};

/// Writes a class's weights as operand B, by a group. `scratch`: a float, or three integers, per thread. @pre the
/// pieces are zero-padded
template <class Unit, class Group>
LEAGUE_FUNCTION void split_weights(const Group& group, const Descent& descent, int c, int across,
                                   typename Unit::Word* pieces, int* constants, float* factors, void* scratch) {
  using Digits = MmaDigits<Unit>;
  using Squares = blocks::Squares<Unit>;
  constexpr int digits = Digits::digits, columns = Digits::units * blocks::mma::side;
  constexpr int square_words = Squares::steps * Digits::units * blocks::mma::piece_words;
  const float* weights = descent.weights + std::int64_t{c} * descent.weights_pitch;
  const int turn = c / classes_together, first_column = c % classes_together;
  auto* of_turn = pieces + std::int64_t{turn} * across * square_words;
  const auto put = [&](int f, int digit, auto value) {
    Digits::put(of_turn + f / Squares::side * square_words, digit * classes_together + first_column, f % Squares::side,
                static_cast<typename Unit::Value>(value));
  };
  if constexpr (!Digits::bytes) {
    for (int f = group.rank; f <= descent.features; f += group.size) put(f, 0, weights[f]);
    if (group.rank == 0) factors[c] = 1;
  } else {
    float largest = 0;
    for (int f = group.rank; f <= descent.features; f += group.size)
      largest = fabsf(weights[f]) > largest ? fabsf(weights[f]) : largest;
    auto* largest_of = static_cast<float*>(scratch);
    largest_of[group.rank] = largest;
    blocks::combine_in_scratch(group, largest_of, [](float a, float b) { return a > b ? a : b; });
    group.barrier();
    const float scale = Digits::scale_of(largest_of[0]);
    group.barrier();
    struct Sums {
      int of[digits];
    };
    Sums mine = {};
    for (int f = group.rank; f <= descent.features; f += group.size) {
      std::int8_t values[digits];
      Digits::split(Digits::fixed(weights[f] / scale), values);
      for (int digit = 0; digit < digits; ++digit) {
        mine.of[digit] += values[digit] * (f < descent.features ? Digits::moved : 255);
        if (f < descent.features) put(f, digit, values[digit]);
      }
    }
    auto* sums = static_cast<Sums*>(scratch);
    sums[group.rank] = mine;
    blocks::combine_in_scratch(group, sums, [](Sums a, const Sums& b) {
      for (int digit = 0; digit < digits; ++digit) a.of[digit] += b.of[digit];
      return a;
    });
    if (group.rank != 0) return;
    factors[c] = scale / Digits::one;
    for (int digit = 0; digit < digits; ++digit)
      constants[turn * columns + digit * classes_together + first_column] = sums[0].of[digit];
  }
}

}  // namespace league::softmax_regression
