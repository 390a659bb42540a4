// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace league::knn {
namespace {

/// Element type of the oracle: 16-bit integers for pixels, else double. Rows are zero-padded to whole blocks, whose
/// sums vectorise.
constexpr std::int64_t block = 32;

template <class E>
std::vector<E> elements(const HostArray& array, std::int64_t pitch) {
  std::vector<E> all(static_cast<std::size_t>(array.rows() * pitch));
  const auto copy = [&]<class T>(std::span<const T> values) {
    const auto features = array.row_size();
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < array.rows(); ++row)
      for (std::int64_t f = 0; f < features; ++f)
        all[static_cast<std::size_t>(row * pitch + f)] =
            static_cast<E>(values[static_cast<std::size_t>(row * features + f)]);
  };
  if (array.dtype() == Dtype::u8) copy(array.values<const std::uint8_t>());
  if (array.dtype() == Dtype::i32) copy(array.values<const std::int32_t>());
  if (array.dtype() == Dtype::f32) copy(array.values<const float>());
  return all;
}

double sum_of_squares(const std::int16_t* x, const std::int16_t* y, std::int64_t pitch) {
  std::int32_t sum = 0;
  for (std::int64_t f = 0; f < pitch; ++f) {
    const auto difference = static_cast<std::int16_t>(x[f] - y[f]);
    sum += difference * difference;
  }
  return sum;
}

double sum_of_squares(const double* x, const double* y, std::int64_t pitch) {
  std::array<double, block> sums{};
  for (std::int64_t f = 0; f < pitch; f += block)
    for (std::int64_t i = 0; i < block; ++i) {
      const double difference = x[f + i] - y[f + i];
      sums[static_cast<std::size_t>(i)] += difference * difference;
    }
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

/// The local test rows to check: all, or a sample within the operation budget of the whole problem, with the first and
/// the last.
std::vector<std::int64_t> rows_to_answer(const Knn& problem) {
  const double pairs_allowed = (problem.exact ? 2e11 : 3e10) / static_cast<double>(problem.features);
  const auto affordable = static_cast<std::int64_t>(pairs_allowed / static_cast<double>(problem.train.rows()));
  const std::int64_t rows = problem.extent(),
                     count = std::clamp<std::int64_t>(affordable, std::min<std::int64_t>(rows, 16), rows);
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = count == 1 ? 0 : i * (rows - 1) / (count - 1);
    if (row >= problem.rows.begin && row < problem.rows.end) chosen.push_back(row);
  }
  return chosen;
}

/// Several test rows per pass over the training rows, to reuse them from cache.
template <class E>
std::vector<Nearest> search(const Knn& problem, const std::vector<std::int64_t>& rows) {
  constexpr std::size_t together = 8;
  const std::int64_t pitch = (problem.features + block - 1) / block * block;
  const std::vector<E> train = elements<E>(problem.train, pitch), test = elements<E>(problem.test, pitch);
  std::vector<Nearest> found(rows.size());
  const auto groups = static_cast<std::int64_t>((rows.size() + together - 1) / together);
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::size_t begin = static_cast<std::size_t>(group) * together, end = std::min(begin + together, rows.size());
    for (std::int64_t j = 0; j < problem.train.rows(); ++j)
      for (std::size_t i = begin; i < end; ++i) {
        const double squared = sum_of_squares(&test[static_cast<std::size_t>((rows[i] - problem.rows.begin) * pitch)],
                                              &train[static_cast<std::size_t>(j * pitch)], pitch);
        Nearest& best = found[i];
        if (best.squared.size() == static_cast<std::size_t>(problem.k) && !(squared < best.squared.back())) continue;
        const auto place = std::ranges::upper_bound(best.squared, squared) - best.squared.begin();  // after equal ones
        best.squared.insert(best.squared.begin() + place, squared);
        best.indices.insert(best.indices.begin() + place, j);
        if (best.squared.size() > static_cast<std::size_t>(problem.k)) best.squared.pop_back(), best.indices.pop_back();
      }
  }
  return found;
}

template <class Body>
double with_rows(const Knn& problem, const Body& body) {
  if (problem.dtype == Dtype::u8) return body.template operator()<std::uint8_t>();
  if (problem.dtype == Dtype::i32) return body.template operator()<std::int32_t>();
  return body.template operator()<float>();
}

/// Squared distance of test row `number` and a training row, from the formula: exact for whole numbers, else in double.
double squared_distance(const Knn& problem, std::int64_t number, std::int64_t train_row) {
  return with_rows(problem, [&]<class T>() {
    const std::int64_t row = number - problem.rows.begin;
    const std::span<const T> x = problem.test.values<const T>(row, row + 1),
                             y = problem.train.values<const T>(train_row, train_row + 1);
    double sum = 0;
    for (std::size_t f = 0; f < x.size(); ++f) {
      const double difference = static_cast<double>(x[f]) - static_cast<double>(y[f]);
      sum += difference * difference;
    }
    return sum;
  });
}

double squared_norm(const Knn& problem, const HostArray& array, std::int64_t row) {
  return with_rows(problem, [&]<class T>() {
    double sum = 0;
    for (const T value : array.values<const T>(row, row + 1))
      sum += static_cast<double>(value) * static_cast<double>(value);
    return sum;
  });
}

/// One row of the results, and its checks.
struct Row {
  const Knn& problem;
  std::int64_t number;
  std::span<const std::int64_t> neighbours;
  std::span<const double> distances;
  std::int32_t label;

  [[nodiscard]] std::string complain(int i, const std::string& what) const {
    return "test row " + std::to_string(number) + ": neighbour " + std::to_string(i) + " is " +
           std::to_string(neighbours[static_cast<std::size_t>(i)]) + " at " +
           std::to_string(distances[static_cast<std::size_t>(i)]) + ", " + what;
  }

  /// Self-consistency: valid distinct neighbours, right distances, sorted, right vote. Empty if consistent.
  [[nodiscard]] std::string inconsistency(std::vector<double>& squared) const {
    const double bound =
        problem.exact ? 0 : static_cast<double>(problem.features + 4) * std::numeric_limits<double>::epsilon();
    for (int i = 0; i < problem.k; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (neighbours[at] < 0 || neighbours[at] >= problem.train.rows())
        return complain(i, "which is not a training row");
      squared[at] = squared_distance(problem, number, neighbours[at]);
      if (!(std::abs(distances[at] - std::sqrt(squared[at])) <= bound * std::sqrt(squared[at])))
        return complain(i, "whose distance is " + std::to_string(std::sqrt(squared[at])));
      if (i > 0 && !(distances[at - 1] < distances[at] ||
                     (distances[at - 1] == distances[at] && neighbours[at - 1] < neighbours[at])))
        return complain(i, "which does not come after the one before it");
    }
    const std::int32_t expected = vote();
    if (label != expected)
      return "test row " + std::to_string(number) + ": label " + std::to_string(label) + ", its neighbours vote for " +
             std::to_string(expected);
    return {};
  }

  /// The vote, implemented independently of the kernels.
  [[nodiscard]] std::int32_t vote() const {
    const std::span<const std::int32_t> labels = problem.train_labels.values<const std::int32_t>();
    const bool some_at_zero = std::ranges::any_of(distances, [](double distance) { return distance == 0; });
    std::map<std::int32_t, double> sums;
    for (std::size_t i = 0; i < distances.size(); ++i) {
      double weight = 1;
      if (problem.votes == Votes::eps) weight = 1.0 / (distances[i] + 1e-5);
      if (problem.votes == Votes::inverse) weight = some_at_zero ? (distances[i] == 0 ? 1.0 : 0.0) : 1.0 / distances[i];
      sums[labels[static_cast<std::size_t>(neighbours[i])]] += weight;
    }
    return std::ranges::max_element(sums, [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;  // the lowest label of equal votes
  }

  /// Against the oracle: the same neighbours for exact data; else no neighbour farther than the k-th by more than the
  /// rounding bound of two expanded distances (|y|^2 - 2 x.y in f32).
  void compare(const Nearest& right, const std::vector<double>& squared, Verdict& verdict) const {
    if (std::ranges::equal(neighbours, right.indices)) return;
    ++verdict.ties;
    const double magnitude = squared_norm(problem, problem.test, number - problem.rows.begin) +
                             2 * squared_norm(problem, problem.train, right.indices.back());
    for (int i = 0; i < problem.k; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (problem.exact) {
        if (neighbours[at] != right.indices[at])
          return verdict.fail(complain(i, "expected " + std::to_string(right.indices[at]) + " at " +
                                              std::to_string(std::sqrt(right.squared[at]))));
        continue;
      }
      const double bound = static_cast<double>(problem.features + 4) * std::numeric_limits<float>::epsilon() *
                           (magnitude + 2 * squared_norm(problem, problem.train, neighbours[at]));
      verdict.worst = std::max(verdict.worst, (squared[at] - right.squared.back()) / bound);
      if (squared[at] - right.squared.back() > bound)
        return verdict.fail(complain(i, "the last one right is at " + std::to_string(std::sqrt(right.squared.back()))));
    }
  }
};

}  // namespace

const std::map<std::int64_t, Nearest>& Oracle::nearest() {
  std::call_once(once_, [&] {
    const std::vector<std::int64_t> rows = rows_to_answer(problem_);
    std::vector<Nearest> found = problem_.exact ? search<std::int16_t>(problem_, rows) : search<double>(problem_, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) nearest_.emplace(rows[i], std::move(found[i]));
  });
  return nearest_;
}

Verdict judge(const Knn& problem, Oracle& oracle, const Outputs& outputs) {
  const Range rows = outputs.at(Knn::labels).rows;
  const std::map<std::int64_t, Nearest>& right = oracle.nearest();
  const std::span<const std::int32_t> true_labels = problem.test_labels.values<const std::int32_t>();
  Verdict verdict{.rows_checked = rows.size()};
  std::int64_t correct = 0, first_wrong = rows.end;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : correct)
  for (std::int64_t number = rows.begin; number < rows.end; ++number) {
    const std::int64_t at = number - rows.begin;
    const Row row{problem, number, outputs[Knn::neighbours].values.values<const std::int64_t>(at, at + 1),
                  outputs[Knn::distances].values.values<const double>(at, at + 1),
                  outputs[Knn::labels].values.values<const std::int32_t>(at, at + 1).front()};
    correct += row.label == true_labels[static_cast<std::size_t>(at)];
    std::vector<double> squared(static_cast<std::size_t>(problem.k));
    Verdict of_row;
    if (const std::string wrong = row.inconsistency(squared); !wrong.empty()) of_row.fail(wrong);
    if (const auto answer = right.find(number); of_row.passed() && answer != right.end())
      row.compare(answer->second, squared, of_row);
    if (of_row.passed() && of_row.ties == 0) continue;
#pragma omp critical(league_knn_verdict)
    {
      verdict.ties += of_row.ties;
      verdict.worst = std::max(verdict.worst, of_row.worst);
      if (!of_row.message.empty() && number < first_wrong) first_wrong = number, verdict.message = of_row.message;
    }
  }
  verdict.figures = {{"right", static_cast<double>(correct)},
                     {"accuracy", static_cast<double>(correct), static_cast<double>(rows.size())}};
  return verdict;
}

}  // namespace league::knn
