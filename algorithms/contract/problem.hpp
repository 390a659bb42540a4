// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/contract/making.hpp"
#include "backends/array.hpp"
#include "backends/backend.hpp"

/// The problem to be computed, and the check of its results.
namespace league {

/// A named host array of results or inputs. `rows`: the global rows that it holds. A split array holds the rows of this
/// process's shards, a replicated one all rows.
struct Output {
  std::string name;
  HostArray values;
  Range rows;
  std::string form{};  ///< how it was computed, if the error bound depends on it ("expanded"); empty: by the formula
};
using Outputs = std::vector<Output>;

/// Minimum bytes and operations of the *problem*, whatever the method: each input read once, each output written once.
struct Cost {
  double bytes = 0;  ///< read and written
  double operations = 0;
  std::string best_unit{};   ///< the fastest unit with sufficient precision: "u8 tensor"; empty: that of the type
  double written_bytes = 0;  ///< of `bytes`
  /// Operations of units of their own, beside `operations`: {"exp", 5e7}.
  std::map<std::string, double> other_operations{};
  double chain = 0;  ///< multiply-adds that depend on each other, one after the other
};

/// A figure of merit of a result, as a fraction, so that figures of disjoint rows add up: {"accuracy", 9722, 10000}.
struct Figure {
  std::string name;
  double numerator;
  double denominator = 0;  ///< 0: a plain sum
  [[nodiscard]] double value() const { return denominator == 0 ? numerator : numerator / denominator; }
};

/// A figure at several points of a computation: {"accuracy", {9722, 9805}, 10000} after each of two epochs.
struct Curve {
  std::string name;
  std::vector<double> numerators;
  double denominator = 1;
  [[nodiscard]] std::vector<double> values() const;
};

/// The result of a check. Verdicts of disjoint rows combine with `+=`.
struct Verdict {
  std::int64_t rows_checked = 0;
  double worst = 0;        ///< largest error over its bound; above 1 is wrong
  std::int64_t ties = 0;   ///< rows that differ from the oracle within the bounds
  std::string message{};   ///< the first error: which value, what was expected; empty if correct
  bool ill_posed = false;  ///< the oracle itself diverges or finds no solution: no result can pass
  std::vector<Figure> figures{};
  std::vector<Curve> curves{};

  [[nodiscard]] bool passed() const { return message.empty() && worst <= 1; }
  void fail(std::string what) {
    if (message.empty()) message = std::move(what);
  }
  /// Fails because of the problem, not the result.
  void fail_problem(std::string what) {
    ill_posed = ill_posed || passed();
    fail(std::move(what));
  }
  Verdict& operator+=(const Verdict& other);
};

/// Sums and maxima over the processes of a run, on the host; with one process, the identity. All processes make the
/// same calls in the same order and get the same result, bit for bit.
class Reduce {
 public:
  virtual ~Reduce() = default;
  virtual void sum(std::span<double>) {}
  virtual void sum(std::span<long double>) {}
  virtual void sum(std::span<std::int64_t>) {}
  /// The elementwise maximum over the processes.
  virtual void max(std::span<double>) {}
  /// Whether all processes have given the same value.
  virtual bool agree(std::uint64_t) { return true; }

  template <class T>
  [[nodiscard]] T sum_of(T value) {
    sum(std::span(&value, 1));
    return value;
  }
};

/// Makes the inputs and checks results. The constructor checks the parameters and computes all sizes; only
/// `make_inputs` allocates.
class Problem {
 public:
  /// @throws std::invalid_argument naming the invalid key and its limit
  explicit Problem(const Making& making) : parameters(making.parameters), dtype(making.dtype) {}
  virtual ~Problem() = default;
  /// Rows that can be split over shards.
  [[nodiscard]] virtual std::int64_t extent() const = 0;
  /// Rows that are split over the shards at a time: all, or those of a mini-batch.
  [[nodiscard]] virtual std::int64_t batch_rows() const { return extent(); }
  /// Maximum number of teams with work: by default one per row.
  [[nodiscard]] virtual std::int64_t max_teams() const { return extent(); }
  [[nodiscard]] virtual Cost cost() const = 0;
  /// Minimum bytes that a method moves, counted as in `cost`: more if it reads rows in several passes or stores
  /// intermediate results.
  [[nodiscard]] virtual double method_bytes(std::string_view /*method*/) const { return cost().bytes; }
  /// Minimum operations that a method takes in its unit: three products of f16 in place of one of f32.
  /// Of an empty method: those of the best unit.
  [[nodiscard]] virtual double method_operations(std::string_view /*method*/) const { return cost().operations; }
  /// The unit of a method on these inputs, where that depends on their values; empty: the registered one.
  [[nodiscard]] virtual std::string method_unit(std::string_view /*method*/) const { return {}; }
  /// Makes the inputs, by global index: the rows `local` if they are split, all if they are replicated. Called once,
  /// before any use of the inputs.
  virtual void make_inputs(Range local, std::pmr::memory_resource& memory) = 0;
  /// Host arrays for the results, in the types and shapes that `check` and `--save-results` expect: split ones for the
  /// rows `local`.
  [[nodiscard]] virtual Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const = 0;
  /// The inputs, for `--save-inputs` and for peers.
  [[nodiscard]] virtual Outputs inputs() const = 0;
  /// Compares with an oracle in double or exact integers, each value within its own bound. Split outputs: the verdict
  /// on the rows of this process; replicated outputs: the same verdict in all.
  [[nodiscard]] virtual Verdict check(const Outputs& outputs, Reduce& reduce) const = 0;
  /// The check in one process.
  [[nodiscard]] Verdict check_alone(const Outputs& outputs) const {
    Reduce alone;
    return check(outputs, alone);
  }

  const Parameters parameters;
  const Dtype dtype;
};

/// Sets all bytes to 0xff.
void poison(Outputs& outputs);

}  // namespace league
