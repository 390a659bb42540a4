// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/contract/making.hpp"
#include "backends/array.hpp"
#include "backends/backend.hpp"

/// What is to be computed, and what judges the result.
namespace league {

/// A named host array of results or inputs. `rows`: the global rows that it holds. A split array holds the rows of this
/// process's shards, a replicated one all rows.
struct Output {
  std::string name;
  HostArray values;
  Range rows;
  std::string form{};  ///< how it was computed, where the error bound depends on it ("expanded"); empty: by the formula
};
using Outputs = std::vector<Output>;

/// Bytes and operations that the *problem* needs at least: each input read once, each output written once.
struct Cost {
  double bytes = 0;
  double operations = 0;
  std::string best_unit{};  ///< the fastest unit that solves it as exactly: "u8 tensor"; empty: that of the type
};

/// What a reader wants to know of a result, as a fraction, so that figures of disjoint rows add up: {"accuracy", 9722,
/// 10000}.
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

/// What a check found. Verdicts of disjoint rows combine with `+=`.
struct Verdict {
  std::int64_t rows_checked = 0;
  double worst = 0;        ///< largest error over its bound; above 1 is wrong
  std::int64_t ties = 0;   ///< rows that differ from the oracle where the bounds allow it
  std::string message{};   ///< the first thing wrong: which value, what was expected; empty if all is right
  bool ill_posed = false;  ///< the oracle itself diverges or finds no solution: no result could have passed
  std::vector<Figure> figures{};
  std::vector<Curve> curves{};

  [[nodiscard]] bool passed() const { return message.empty() && worst <= 1; }
  void fail(std::string what) {
    if (message.empty()) message = std::move(what);
  }
  /// Fails because of the problem, not of the result.
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
  /// Of each value, the largest that a process has.
  virtual void max(std::span<double>) {}
  /// Whether all processes have given the same value.
  virtual bool agree(std::uint64_t) { return true; }

  template <class T>
  [[nodiscard]] T sum_of(T value) {
    sum(std::span(&value, 1));
    return value;
  }
};

/// All that is needed to make the inputs and to judge a result. The constructor checks the parameters and knows all
/// sizes; only `make_inputs` takes memory.
class Problem {
 public:
  /// @throws std::invalid_argument for what no problem can be made from, naming the key and its limit
  explicit Problem(const Making& making) : parameters(making.parameters), dtype(making.dtype) {}
  virtual ~Problem() = default;
  /// Rows that can be split over shards.
  [[nodiscard]] virtual std::int64_t extent() const = 0;
  /// Rows that are split over the shards together: all, or those of a mini-batch, each of which then lies on all
  /// shards.
  [[nodiscard]] virtual std::int64_t batch_rows() const { return extent(); }
  /// Teams that a kernel can have work for: one per row, if teams share out no more than rows.
  [[nodiscard]] virtual std::int64_t max_teams() const { return extent(); }
  [[nodiscard]] virtual Cost cost() const = 0;
  /// Bytes that a method moves at least, counted as those of `cost`: more where it reads rows in several passes, or
  /// writes down what another pass reads.
  [[nodiscard]] virtual double method_bytes(std::string_view /*method*/) const { return cost().bytes; }
  /// The inputs, by global index: of the rows `local` where they are split, all where they are replicated. Called once,
  /// before anything else is asked of the inputs.
  virtual void make_inputs(Range local, std::pmr::memory_resource& memory) = 0;
  /// Host arrays for the results, in the types and shapes that `check` and `--save-results` expect: split ones for the
  /// rows `local`.
  [[nodiscard]] virtual Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const = 0;
  /// The inputs, for `--save-inputs` and for peers.
  [[nodiscard]] virtual Outputs inputs() const = 0;
  /// Against an oracle in double or exact integers, each value within its own bound. The verdict on split outputs is
  /// that on the rows of this process; what is replicated is judged alike in all.
  [[nodiscard]] virtual Verdict check(const Outputs& outputs, Reduce& reduce) const = 0;
  /// In one process.
  [[nodiscard]] Verdict check_alone(const Outputs& outputs) const {
    Reduce alone;
    return check(outputs, alone);
  }

  const Parameters parameters;
  const Dtype dtype;
};

/// All bytes of all values 0xff.
void poison(Outputs& outputs);

}  // namespace league
