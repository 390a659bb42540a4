// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/dense.hpp"
#include "algorithms/cnn/training.hpp"

namespace league::cnn {

/// A training on one GPU by kernels that a team of threads takes item by item.
template <class Gpu, class Net, class Memory_, class Pack_>
class GpuTraining : public KernelTraining<Gpu, Net, Memory_, Pack_> {
  using Base = KernelTraining<Gpu, Net, Memory_, Pack_>;

 public:
  using typename Base::State, typename Base::Take;

  GpuTraining(const Cnn& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), multiprocessors_(league::multiprocessors(*this)) {}

 protected:
  void count_right(const State& s) const override { items<CountRight>(s, s.tests(0), 1); }
  /// The requested league size, or so many teams per multiprocessor.
  [[nodiscard]] int teams(int per_multiprocessor) const { return Base::teams(per_multiprocessor * multiprocessors_); }
  [[nodiscard]] int multiprocessors() const { return multiprocessors_; }
  template <class Kernel>
  void items(const State& s, const Take& take, int count) const {
    if (count > 0)
      Base::launcher().template items<Kernel>(Base::league_size(count), s, this->kernel_memory(), take, count);
  }

 private:
  int multiprocessors_;
};

}  // namespace league::cnn
