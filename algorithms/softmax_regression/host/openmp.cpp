// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/blocks/words_native.hpp"
#include "algorithms/softmax_regression/host/shard.hpp"
#include "algorithms/softmax_regression/host/tiles.hpp"

namespace league::softmax_regression {
namespace {

// A thread takes every threads-th tile of rows, with its own gradient; then adds a range of columns of all gradients.
template <class T>
void add_rows(const HostWork<T>& work) {
  const Descent& descent = work.descent;
  const Rows rows = work.begin();
  const int threads = work.threads, pitch = work.partial_pitch();
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static, 1)
    for (int thread = 0; thread < threads; ++thread) {
      double* mine = work.partial(thread);
      std::fill_n(mine, pitch, 0.0);
      double loss = descent.penalty(*descent.current, thread, threads);
      for (std::int64_t row = rows.first + std::int64_t{thread} * host_tile_rows; row < rows.last;
           row += std::int64_t{threads} * host_tile_rows)
        loss += take_tile<blocks::NativeWords>(
            descent, work.x + row * descent.pitch, work.labels + row,
            static_cast<int>(std::min<std::int64_t>(host_tile_rows, rows.last - row)), mine);
      mine[pitch - 1] = loss;
    }
#pragma omp for schedule(static)
    for (int column = 0; column < descent.columns(); ++column) work.add_column(column);
  }
}

template <class T>
using OpenMp = HostShard<T, openmp::Pass, add_rows<T>>;

const RegisterSolve<SoftmaxRegression> fused{"fused", openmp::model, by_type<OpenMp>, {Execution::stream}};

}  // namespace
}  // namespace league::softmax_regression
