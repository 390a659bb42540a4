// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/collectives/collectives.hpp"

#include <algorithm>
#include <array>

#include "algorithms/contract/with_type.hpp"
#include "algorithms/oracle/generate.hpp"
#include "algorithms/oracle/judge.hpp"

namespace league {
namespace {

using collectives::name, collectives::names;
using Operation = Collectives::Operation;

/// Messages per compute and shard: many, to be long enough for timing, within this memory.
constexpr std::int64_t usual_repeats = 100;
constexpr std::int64_t max_message_bytes = std::int64_t{512} << 20;

Method method(Operation operation, const std::string& description) {
  const std::string same = "collectives are the communicator's for every model: same as ";
  return {.name = name(operation),
          .description = description,
          .dtypes = {Dtype::f32, Dtype::f64},
          .executions = recordable,
          .not_expressible = {{"serial", same + "openmp"}, {"kokkos", same + "openmp, cuda and hip"}},
          .problem = name(operation)};
}

const RegisterAlgorithm registered{Algorithm{
    .name = Collectives::algorithm,
    .description = "collectives between devices",
    .parameters = {{.name = "bytes",
                    .kind = Parameter::Kind::size,
                    .default_value = "65536",
                    .min = 0,
                    .description = "bytes of a shard's buffer, rounded down to whole values"},
                   {.name = "repeats",
                    .default_value = "0",
                    .min = 0,
                    .max = 10000,
                    .description = "repeats per compute, each on its own values; 0: 100. Fewer if they need more "
                                   "than 512 MiB per shard"},
                   {.name = "order",
                    .kind = Parameter::Kind::choice,
                    .default_value = "any",
                    .choices = {"any", "ordered"},
                    .description = "order of additions: the engine's choice, or by shard, which gives "
                                   "the same bits with every engine"}},
    .methods = {method(Operation::all_reduce, "the sum over all shards, in every buffer"),
                method(Operation::reduce_scatter, "the sum over all shards, a piece of it in each buffer"),
                method(Operation::all_gather, "one piece of each shard, in every buffer"),
                method(Operation::broadcast, "shard 0's values, in every buffer"),
                method(Operation::exchange, "halves of each buffer, to the neighbours on a ring")},
    .make = [](const Making& making) { return std::make_unique<Collectives>(making); },
    .edge_cases = {{{"bytes", "0"}},
                   {{"bytes", "4"}},
                   {{"bytes", "8"}},
                   {{"bytes", "28"}, {"repeats", "1"}},
                   {{"bytes", "404"}, {"repeats", "7"}, {"order", "ordered"}},
                   {{"bytes", "4125"}},
                   {{"bytes", "262152"}, {"repeats", "2"}},
                   {{"bytes", "262216"}, {"repeats", "3"}, {"order", "ordered"}}},
    .between_shards = true}};

Operation operation_of(const std::string& problem) {
  const auto found = std::ranges::find(names, problem);
  return found == names.end() ? Operation::all_reduce : static_cast<Operation>(found - names.begin());
}

int repeats_of(std::int64_t wanted, std::int64_t message_bytes) {
  const std::int64_t fit = max_message_bytes / std::max<std::int64_t>(message_bytes, 1);
  return static_cast<int>(std::clamp<std::int64_t>(fit, 1, wanted == 0 ? usual_repeats : wanted));
}

/// The piece of [0, size) that contains value `i`, the inverse of `piece_of`.
int piece_with(std::int64_t size, std::int64_t pieces, std::int64_t i) {
  const std::int64_t shorter = size / pieces, in_longer = size % pieces * (shorter + 1);
  return static_cast<int>(i < in_longer ? i / (shorter + 1) : size % pieces + (i - in_longer) / shorter);
}

/// Error bound of a sum of `terms` values in any order, `magnitudes` being the sum of their magnitudes. Source: Higham,
/// Accuracy and Stability of Numerical Algorithms, 4.2.
double sum_bound(int terms, double epsilon, double magnitudes) {
  const double rounded = (terms - 1) * epsilon / 2;
  return rounded / (1 - rounded) * magnitudes;
}

/// The values that shards send, by shard and position over all repeats.
template <class T>
struct Values {
  std::uint64_t seed;
  int shards;
  [[nodiscard]] T at(int shard, std::int64_t place) const {
    return random_value<T>(seed, static_cast<std::uint64_t>(shard), static_cast<std::uint64_t>(place));
  }
  /// In shard order: must match bitwise.
  [[nodiscard]] Expected ordered_sum(std::int64_t place) const {
    T sum = 0;
    for (int shard = 0; shard < shards; ++shard) sum += at(shard, place);
    return {static_cast<double>(sum), 0};
  }
  /// The values are multiples of one unit, so that the sum is exact before it is rounded to double.
  [[nodiscard]] Expected sum(std::int64_t place) const {
    long double sum = 0;
    double magnitudes = 0;
    for (int shard = 0; shard < shards; ++shard) {
      const auto value = static_cast<double>(at(shard, place));
      sum += value;
      magnitudes += std::abs(value);
    }
    const auto rounded = static_cast<double>(sum);
    return {rounded, sum_bound(shards, epsilon_of<T>, magnitudes) + epsilon_of<double> / 2 * std::abs(rounded)};
  }
};

}  // namespace

Collectives::Collectives(const Making& making)
    : Problem(within_bounds(making, algorithm)),
      operation(operation_of(making.problem)),
      order(making.parameters.choice("order") == "ordered" ? Order::ordered : Order::any),
      shards(making.shards),
      n(making.parameters.integer("bytes") / static_cast<std::int64_t>(size_bytes(dtype))),
      repeats(repeats_of(making.parameters.integer("repeats"), n * static_cast<std::int64_t>(size_bytes(dtype)))),
      seed_(making.seed) {}

/// Source: doc/PERFORMANCE.md of https://github.com/NVIDIA/nccl-tests.
Cost Collectives::cost() const {
  const double others = static_cast<double>(shards - 1) / shards;
  const std::array factors{2 * others, others, others, 1.0, 1.0};
  return {factors[static_cast<std::size_t>(operation)] * static_cast<double>(n) *
          static_cast<double>(size_bytes(dtype))};
}

void Collectives::make_inputs(Range local, std::pmr::memory_resource& memory) {
  local_ = local;
  x = HostArray(memory, dtype, {local.size(), n + repeats - 1});
  with_type<float, double>(dtype, [&]<class T>() {
    for (std::int64_t shard = local.begin; shard < local.end; ++shard)
      fill_random(x.values<T>(shard - local.begin, shard - local.begin + 1), seed_, static_cast<std::uint64_t>(shard));
  });
}

Outputs Collectives::make_outputs(Range local, std::pmr::memory_resource& memory) const {
  return {{"result", HostArray(memory, dtype, {local.size(), repeats, n}), local}};
}

template <class T>
Verdict Collectives::judge(const Output& output) const {
  const Values<T> values{seed_, shards};
  const collectives::Halves halves(n);
  return judge_rows<T>(output, [&](std::int64_t index) -> Expected {
    const auto shard = static_cast<int>(index / (repeats * n));
    const std::int64_t first = index / n % repeats, i = index % n;
    const auto exact = [&](int from, std::int64_t place) {
      return Expected{static_cast<double>(values.at(from, first + place)), 0};
    };
    switch (operation) {
      case Operation::reduce_scatter:
        if (piece_with(n, shards, i) != shard) return {0, 0};
        [[fallthrough]];
      case Operation::all_reduce:
        return order == Order::ordered ? values.ordered_sum(first + i) : values.sum(first + i);
      case Operation::all_gather:
        return exact(piece_with(n, shards, i), i);
      case Operation::broadcast:
        return exact(0, i);
      case Operation::exchange:
        break;
    }
    const Range low = halves.from_below();
    return i < low.end ? exact(collectives::below(shard, shards), halves.upper.begin + i)
                       : exact(collectives::above(shard, shards), i - low.end);
  });
}

Verdict Collectives::check(const Outputs& outputs, Reduce& /*reduce*/) const {
  Verdict verdict = with_type<float, double>(dtype, [&]<class T>() { return judge<T>(outputs.at(0)); });
  const auto rows = static_cast<double>(local_.size());
  verdict.figures.push_back({"repeats", repeats * rows, rows});
  return verdict;
}

}  // namespace league
