// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include <algorithm>

#include "algorithms/logistic_regression/host/newton.hpp"
#include "algorithms/logistic_regression/host/shard.hpp"

// A thread takes neighbouring blocks of 512 rows, feature by feature; vector lanes take neighbouring rows.
namespace league::logistic {
namespace {

template <class T, Kernel kernel>
void add_rows(const HostWork<T>& work) {
  const Rows<T>& rows = work.rows;
  const double* theta = work.state.theta;
  const int threads = work.threads;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static)
    for (int worker = 0; worker < threads; ++worker) {
      double* mine = work.partial(worker);
      std::fill_n(mine, work.partial_pitch(), 0.0);
      const Blocks blocks = blocks_of(rows.count, worker, threads);
      if constexpr (kernel == Kernel::fused) host_add_rows(rows, blocks, theta, mine);
      if constexpr (kernel == Kernel::newton) host_add_newton_rows(rows, blocks, theta, mine);
      if constexpr (kernel == Kernel::unfused) host_logits_of_rows(rows, blocks, theta, work.residual);
    }
    if constexpr (kernel == Kernel::unfused) {
#pragma omp for schedule(static)
      for (int worker = 0; worker < threads; ++worker)
        host_terms_of_rows(rows, blocks_of(rows.count, worker, threads), work.residual, work.partial(worker));
#pragma omp for schedule(static)
      for (int worker = 0; worker < threads; ++worker)
        host_gradient_of_rows(rows, blocks_of(rows.count, worker, threads), work.residual, work.partial(worker));
    }
  }
  for (std::size_t i = 0; i < work.sums.size(); ++i) {
    double sum = 0;
    for (int worker = 0; worker < threads; ++worker) sum += work.partial(worker)[i];
    work.sums[i] = sum;
  }
}

template <Kernel kernel>
struct OpenMp {
  template <class T>
  using MethodShard = HostShard<T, openmp::Pass, kernel, add_rows<T, kernel>>;
};
using Solve = RegisterSolve<LogisticRegression>;
const Solve fused{"fused", openmp::model, by_type<OpenMp<Kernel::fused>::MethodShard>, {Execution::stream}};
const Solve unfused{"unfused", openmp::model, by_type<OpenMp<Kernel::unfused>::MethodShard>, {Execution::stream}};
const Solve newton{"newton", openmp::model, by_type<OpenMp<Kernel::newton>::MethodShard>, {Execution::stream}};

}  // namespace
}  // namespace league::logistic
