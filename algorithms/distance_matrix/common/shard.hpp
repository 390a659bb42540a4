// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/term.hpp"
#include "algorithms/distance_matrix/distance_matrix.hpp"
#include "algorithms/drivers/split.hpp"

namespace league::distance_matrix {

enum class Kind { direct, tiled, symmetric, product };

/// What a kernel sums over the coordinates.
template <Kind kind>
using TermOf = std::conditional_t<kind == Kind::product, blocks::ProductTerm, blocks::DifferenceTerm>;

/// Properties of a method beside its kernel.
struct Form {
  bool expanded = false;     ///< |x|^2 + |y|^2 - 2 x.y
  bool mirrored = false;     ///< and bitwise symmetric, as differences are
  bool blocked = true;       ///< supports blocks of rows
  std::int64_t granule = 1;  ///< rows per block are a multiple of this, if possible
};
constexpr Form form_of(Kind kind, std::int64_t granule = 1) {
  return {.expanded = kind == Kind::product, .blocked = kind != Kind::symmetric, .granule = granule};
}

/// On one shard: as many rows of distances as the memory budget allows on the device. If these are not all, the shard
/// is computed in blocks of rows by the same kernels, with the same values; each block is copied to the host before the
/// next.
class DistanceShard : public IndependentShard {
 public:
  DistanceShard(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), problem_(problem) {}

  /// Declares the points and the distances. @pre all else is declared: the distances use the remaining memory
  template <class Array>
  void declare_matrix(Array& points, Array& out, const Form& form) {
    using T = typename Array::value_type;
    if (!form.blocked && (!is_alone() || rows().size() != problem_.n))
      throw Unsupported("needs the whole matrix: one device only");
    if (form.expanded) result(0).form = form.mirrored ? DistanceMatrix::mirrored : DistanceMatrix::expanded;
    input(points, "distance_matrix/points", problem_.points.values<T>());
    block_rows_ = rows_that_fit(form, problem_.n * std::int64_t{sizeof(T)});
    declare(out, "distance_matrix/distances", block_rows_ * problem_.n);
    if (!blocked()) return output(out, 0);
    poison_ = [&out] { out.poison(); };
    download_ = [this, &out](Range range) {
      Output& to = result(0);
      out.copy_to(to.values.values<T>(range.begin - to.rows.begin, range.end - to.rows.begin));
    };
  }
  void reset() override {
    IndependentShard::reset();
    if (blocked()) poison_();
  }
  void compute(Stages& stages) override {
    if (!blocked()) return block(stages, rows());
    for (std::int64_t begin = rows().begin; begin < rows().end; begin += block_rows_) {
      const Range range{begin, std::min(begin + block_rows_, rows().end)};
      block(stages, range);
      stages.stage(queue(), "download", [&] { download_(range); });
    }
  }
  [[nodiscard]] const DistanceMatrix& problem() const { return problem_; }
  /// Maximum rows per block.
  [[nodiscard]] std::int64_t block_rows() const { return block_rows_; }

 private:
  /// Submits the kernels for some rows.
  virtual void block(Stages& stages, Range range) = 0;
  [[nodiscard]] bool blocked() const { return block_rows_ < rows().size(); }
  [[nodiscard]] std::int64_t rows_that_fit(const Form& form, std::int64_t row_bytes) {
    const std::int64_t fit = ledger().left_bytes() / row_bytes;
    if (!form.blocked || fit >= rows().size()) return rows().size();
    return fit > form.granule ? fit / form.granule * form.granule : std::max(fit, std::int64_t{1});
  }

  const DistanceMatrix& problem_;
  std::int64_t block_rows_ = 0;
  std::function<void()> poison_;
  std::function<void(Range)> download_;
};

/// A `Variant<T>`, or one of its kinds.
template <template <class> class Variant>
static std::unique_ptr<IndependentShard> by_type(const DistanceMatrix& problem, const Context& context,
                                                 const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<IndependentShard> {
    return std::make_unique<Variant<T>>(problem, context, shard);
  });
}
template <template <class, Kind> class Variant, Kind kind>
static std::unique_ptr<IndependentShard> by_type(const DistanceMatrix& problem, const Context& context,
                                                 const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<IndependentShard> {
    return std::make_unique<Variant<T, kind>>(problem, context, shard);
  });
}

}  // namespace league::distance_matrix
