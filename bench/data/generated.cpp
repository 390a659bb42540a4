// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/generated.hpp"

#include "algorithms/oracle/generate.hpp"

namespace league::bench {
namespace {

constexpr int classes = 5;
constexpr std::int64_t duplicate_every = 11, zero_distance_every = 7;
enum Stream : std::uint64_t { centres, train_labels, train_noise, test_labels, test_noise, copied_rows, normal = 32 };

std::uint8_t label_of(std::uint64_t seed, Stream stream, std::int64_t row) {
  return static_cast<std::uint8_t>(random_below(classes, seed, stream, static_cast<std::uint64_t>(row)));
}

/// A centre's value in steps of 64 plus noise in steps of 8.
std::uint8_t feature(const Selection& that, Stream noise, std::uint8_t label, std::int64_t row, std::int64_t column) {
  const auto width = static_cast<std::uint64_t>(that.features), at = static_cast<std::uint64_t>(column);
  const std::uint64_t centre = random_below(3, that.seed, centres, label * width + at);
  const std::uint64_t step = random_below(16, that.seed, noise, static_cast<std::uint64_t>(row) * width + at);
  return static_cast<std::uint8_t>(centre * 64 + step * 8);
}

struct Row {
  Stream labels, noise;
  std::int64_t number;
};

/// The row whose features training row `number` has.
Row train_source(std::int64_t number) {
  const bool duplicate = number % duplicate_every == duplicate_every - 1;
  return {train_labels, train_noise, duplicate ? number - 1 : number};
}

Row test_source(const Selection& that, std::int64_t number) {
  if (number % zero_distance_every != zero_distance_every - 1 || that.train == 0)
    return {test_labels, test_noise, number};
  const std::uint64_t copied =
      random_below(static_cast<std::uint64_t>(that.train), that.seed, copied_rows, static_cast<std::uint64_t>(number));
  return train_source(static_cast<std::int64_t>(copied));
}

template <class Source>
HostArray make_rows(const Selection& that, std::int64_t rows, std::pmr::memory_resource& memory,
                    const Source& source_of) {
  const auto fill = [&](const auto& values, const auto& value_of) {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows; ++row) {
      const Row source = source_of(row);
      const std::uint8_t label = label_of(that.seed, source.labels, source.number);
      for (std::int64_t column = 0; column < that.features; ++column)
        values[static_cast<std::size_t>(row * that.features + column)] = value_of(source, label, column);
    }
  };
  const bool is_normal = that.dataset == "normal";
  HostArray array(memory, is_normal ? Dtype::f32 : Dtype::u8, {rows, that.features});
  if (is_normal)
    fill(array.values<float>(), [&](const Row& source, std::uint8_t, std::int64_t column) {
      const std::uint64_t stream = normal + 2 * source.noise;  // and the next
      return static_cast<float>(
          random_normal(that.seed, stream, static_cast<std::uint64_t>(source.number * that.features + column)));
    });
  else
    fill(array.values<std::uint8_t>(), [&](const Row& source, std::uint8_t label, std::int64_t column) {
      return feature(that, source.noise, label, source.number, column);
    });
  return array;
}

HostArray make_labels(const Selection& that, std::int64_t rows, Stream stream, std::pmr::memory_resource& memory) {
  HostArray array(memory, Dtype::i32, {rows});
  const std::span<std::int32_t> values = array.values<std::int32_t>();
  for (std::int64_t row = 0; row < rows; ++row)
    values[static_cast<std::size_t>(row)] = label_of(that.seed, stream, row);
  return array;
}

}  // namespace

Dataset generate_dataset(const Selection& that, std::pmr::memory_resource& memory) {
  return {make_rows(that, that.train, memory, [](std::int64_t row) { return train_source(row); }),
          make_labels(that, that.train, train_labels, memory),
          make_rows(that, that.test, memory, [&](std::int64_t row) { return test_source(that, row); }),
          make_labels(that, that.test, test_labels, memory), classes};
}

}  // namespace league::bench
