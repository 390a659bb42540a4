// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <random>

#include "algorithms/logistic_regression/logistic_regression.hpp"
#include "algorithms/oracle/generate.hpp"

namespace league::logistic {
namespace {

/// `rand()` of glibc after `srand(0)`: the additive feedback generator x[i] = x[i - 3] + x[i - 31]. With its own state,
/// to leave the program's untouched.
class GlibcRand {
 public:
  GlibcRand() {
    std::int64_t value = 1;  // glibc maps seed 0 to 1
    for (std::size_t i = 0; i < size; ++i) {
      state_[i] = static_cast<std::uint32_t>(value);
      value = 16807 * value % 2147483647;
    }
    for (int i = 0; i < 310; ++i) step();
  }
  std::int32_t operator()() { return static_cast<std::int32_t>(step() >> 1); }

 private:
  static constexpr std::size_t size = 31;
  std::uint32_t step() {
    std::uint32_t& oldest = state_[at_];
    oldest += state_[(at_ + size - 3) % size];
    at_ = (at_ + 1) % size;
    return oldest;
  }
  std::array<std::uint32_t, size> state_{};
  std::size_t at_ = 3;  // the first three values are repeated before the recurrence starts
};

/// Calls `put(feature, row, value)` and `label(row, value)` for rows 0 to `rows`, in the order of the study's own loop.
template <class Put, class Label>
void generate_a3(std::int64_t rows, const Put& put, const Label& label) {
  constexpr float highest = 2147483647.0F, sigma = 0.1F;
  GlibcRand random;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::array<float, 2> x{};
    for (int feature = 0; feature < 2; ++feature) {
      const float value = static_cast<float>(random()) / highest;
      const float noise = sigma * (static_cast<float>(random()) / highest);
      put(feature, row, x[static_cast<std::size_t>(feature)] = value + noise);
    }
    label(row, -1.0F + 1.2F * x[0] + 1.0F * x[1] >= 0);
  }
}

/// `numpy.random.seed(0); numpy.random.rand(rows, 2)`; T: the type it is rounded to before the label is computed.
template <class T, class Put, class Label>
void generate_uniform(std::int64_t rows, const Put& put, const Label& label) {
  std::mt19937 random(0);
  const auto next = [&] {
    const auto high = random() >> 5, low = random() >> 6;
    return static_cast<T>((static_cast<double>(high) * 67108864.0 + static_cast<double>(low)) / 9007199254740992.0);
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    const T first = next(), second = next();
    put(0, row, first), put(1, row, second);
    label(row, first + second > 1);
  }
}

/// Features in [-1, 1); the label is 1 where a linear function of them plus noise is positive. All arithmetic is exact,
/// and the classes are not linearly separable.
template <class T>
void generate_rows(const LogisticRegression& problem, std::span<T> columns, std::span<std::uint8_t> labels) {
  const std::int64_t count = problem.rows.size();
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < count; ++row) {
    const auto index = static_cast<std::uint64_t>(problem.rows.begin + row);
    double z = 0.25;
    for (std::int64_t feature = 0; feature < problem.features; ++feature) {
      const float value = 2 * random_value<float>(problem.seed, static_cast<std::uint64_t>(feature), index);
      columns[static_cast<std::size_t>(feature * count + row)] = value;
      const double weight = static_cast<double>(feature % 5 + 1) * (feature % 2 == 0 ? 0.5 : -0.5);
      z += weight * double{value};
    }
    for (std::uint64_t k = 0; k < 4; ++k) z += 4 * random_value<double>(problem.seed, 1000 + k, index);
    labels[static_cast<std::size_t>(row)] = z > 0 ? 1 : 0;
  }
}

template <class T>
void generate_in(const LogisticRegression& problem, std::span<T> columns, std::span<std::uint8_t> labels) {
  const Range rows = problem.rows;  // values of earlier rows are drawn and discarded
  const auto put = [&](std::int64_t feature, std::int64_t row, auto value) {
    if (row >= rows.begin)
      columns[static_cast<std::size_t>(feature * rows.size() + row - rows.begin)] = static_cast<T>(value);
  };
  const auto label = [&](std::int64_t row, bool one) {
    if (row >= rows.begin) labels[static_cast<std::size_t>(row - rows.begin)] = one ? 1 : 0;
  };
  if (problem.data == "a2")
    generate_uniform<double>(rows.end, put, label);
  else if (problem.data == "a3")
    generate_a3(rows.end, put, label);
  else if (problem.data == "a4")
    generate_uniform<float>(rows.end, put, label);
  else
    generate_rows(problem, columns, labels);
}

}  // namespace

void generate(const LogisticRegression& problem, HostArray& columns, HostArray& labels) {
  if (problem.dtype == Dtype::f64)
    generate_in(problem, columns.values<double>(), labels.values<std::uint8_t>());
  else
    generate_in(problem, columns.values<float>(), labels.values<std::uint8_t>());
}

}  // namespace league::logistic
