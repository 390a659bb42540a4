// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/budget.hpp"
#include "algorithms/distance_matrix/distance_matrix.hpp"
#include "algorithms/split.hpp"

namespace league::distance_matrix {

/// What a method says of itself beside its kernel.
struct Form {
  bool expanded = false;         ///< |x|^2 + |y|^2 - 2 x.y
  bool blocked = true;           ///< can work in blocks of rows
  std::int64_t extra_bytes = 0;  ///< on the device, beside points and distances: packed points, norms
  std::int64_t granule = 1;      ///< rows of a block are a multiple of this where it has so many
};

/// The points, and as many rows of distances as the memory budget lets stay on the device. Where they are not all, the
/// shard is computed in blocks of rows, each copied to the host before the next: the same values, from the same
/// kernels.
template <class Array>
class DistancePart : public Part {
 public:
  using T = typename Array::value_type;

  void bind(Outputs& outputs) override {
    host_ = outputs.at(0).values;
    if (form_.expanded) outputs.at(0).form = DistanceMatrix::expanded;
  }
  void reset() override {
    Part::reset();
    if (blocked()) out_.poison();
  }
  void compute(Stages& stages) override {
    if (!blocked()) return block(stages, rows(), out_.data());
    for (std::int64_t begin = rows().begin; begin < rows().end; begin += block_rows_) {
      const Range range{begin, std::min(begin + block_rows_, rows().end)};
      block(stages, range, out_.data());
      stages.stage(queue(), "download", [&] { out_.copy_to(host_.values<T>(range.begin, range.end)); });
    }
  }

 protected:
  /// `make(label, elements)` allocates an array.
  template <class Make>
  DistancePart(const DistanceMatrix& problem, const Context& context, const Shard& shard, const Form& form,
               const Make& make)
      : Part(context, shard),
        n_(problem.n),
        dimension_(problem.dimension),
        euclidean_(problem.euclidean),
        form_(form),
        block_rows_(rows_that_fit(context.memory_budget_bytes)),
        points_(make("distance_matrix/points", n_ * dimension_)),
        out_(make("distance_matrix/distances", block_rows_ * n_)) {
    if (!form_.blocked && context.shards.size() > 1) throw Unsupported("takes the whole matrix: one device only");
    input(points_, problem.points.values<T>());
    if (!blocked()) output(out_, 0);
  }

  /// Queues the distances of some rows, to `out` [range.size() x n].
  virtual void block(Stages& stages, Range range, T* out) = 0;
  [[nodiscard]] bool blocked() const { return block_rows_ < rows().size(); }
  /// The most rows of one block.
  [[nodiscard]] std::int64_t block_rows() const { return block_rows_; }

  std::int64_t n_, dimension_;
  bool euclidean_;

 private:
  [[nodiscard]] std::int64_t rows_that_fit(std::int64_t budget) const {
    const std::int64_t row = n_ * std::int64_t{sizeof(T)}, beside = dimension_ * row + form_.extra_bytes;
    if (beside + rows().size() * row <= budget) return rows().size();
    require_memory(beside + (form_.blocked ? 1 : rows().size()) * row, budget);
    const std::int64_t fit = (budget - beside) / row;
    return fit > form_.granule ? fit / form_.granule * form_.granule : fit;
  }

  Form form_;
  std::int64_t block_rows_;
  HostArray host_;

 protected:
  Array points_, out_;
};

}  // namespace league::distance_matrix
