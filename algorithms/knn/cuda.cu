// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/cuda_part.hpp"

namespace league::knn::cuda_model {
namespace {

using blocks::Pack, blocks::Panels;

constexpr int side = 4;            ///< of the square of distances that a lane keeps
constexpr int most_threads = 512;  ///< of a block, so that the square stays in registers

// A thread takes four queries, each of its lanes four training rows: a square of differences, from packed panels.
template <class Element, class D>
__global__ void __launch_bounds__(most_threads)
    direct(const typename Element::Packed* test, const typename Element::Packed* train, Panels panels,
           std::int64_t first, std::int64_t queries, D* matrix) {
  using Packet = Pack<typename Element::Packed, side* static_cast<int>(sizeof(typename Element::Packed))>;
  const std::int64_t columns = panels.rows;
  const int wide = side * blockDim.x, high = side * blockDim.y;
  const std::int64_t across = (columns + wide - 1) / wide, down = (queries + high - 1) / high;
  for (std::int64_t item = blockIdx.x; item < across * down; item += gridDim.x) {
    const std::int64_t row = item % down * high + threadIdx.y * side, column = item / down * wide + threadIdx.x * side;
    if (row >= queries || column >= columns) continue;
    const auto* x = test + panels.first(first + row);
    const auto* y = train + panels.first(column);
    D total[side][side] = {};
    for (int begin = 0; begin < panels.depth; begin += exact_terms) {
      float sum[side][side] = {};
      const int end = min(begin + exact_terms, panels.depth);
#pragma unroll 4
      for (int f = begin; f < end; ++f, x += Panels::width, y += Panels::width) {
        const Packet a = *reinterpret_cast<const Packet*>(x), b = *reinterpret_cast<const Packet*>(y);
        for (int i = 0; i < side; ++i)
          for (int j = 0; j < side; ++j) {
            const float difference = Element::widen(a.values[i]) - Element::widen(b.values[j]);
            sum[i][j] += difference * difference;
          }
      }
      for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) total[i][j] += static_cast<D>(sum[i][j]);
    }
    for (int i = 0; i < side; ++i)
      *reinterpret_cast<Pack<D>*>(matrix + (row + i) * columns + column) = *reinterpret_cast<const Pack<D>*>(total[i]);
  }
}

template <class T, class Element>
class Direct final : public CudaPart<T> {
  using D = Distance<Element>;
  using Packed = typename Element::Packed;

 public:
  Direct(const Knn& knn, const Context& context, const Shard& shard)
      : CudaPart<T>(knn, context, shard, packed_bytes(knn, shard)),
        train_panels_(this->n_, this->features_),
        test_panels_(this->m_, this->features_),
        packed_train_(this->queue(), train_panels_.size()),
        packed_test_(this->queue(), test_panels_.size()),
        norms_(this->queue(), std::max(train_panels_.rows, test_panels_.rows)) {}

  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 8, cuda::warp_size}, {most_threads, cuda::warp_size, "this kernel"});
    const std::int64_t row_bytes = train_panels_.rows * sizeof(D),
                       least = std::min<std::int64_t>(side, test_panels_.rows);
    require_memory(this->bytes_ + least * row_bytes, this->budget_bytes_);
    at_once_ = std::min(test_panels_.rows, (this->budget_bytes_ - this->bytes_) / row_bytes / side * side);
    matrix_ = {};
    matrix_ = {this->queue(), at_once_ * train_panels_.rows};
    launch_.tile = side;
    if (launch_.league == 0)
      launch_.league = league_of(ceil_div<std::int64_t>(train_panels_.rows, side * launch_.vector) *
                                 ceil_div<std::int64_t>(std::min(at_once_, this->m_), side * launch_.team));
    return launch_;
  }
  void compute(Stages& stages) override {
    const cudaStream_t stream = cuda::stream(this->queue());
    stages.stage(this->queue(), "pack", [&] {
      blocks::pack<Element>(stream, this->train_.data(), this->n_, this->features_, packed_train_.data(),
                            norms_.data());
      blocks::pack<Element>(stream, this->test_.data(), this->m_, this->features_, packed_test_.data(), norms_.data());
    });
    for (std::int64_t first = 0; first < this->m_; first += at_once_) {
      const std::int64_t queries = std::min(at_once_, this->m_ - first);
      stages.stage(this->queue(), "distance", [&] {
        direct<Element><<<launch_.league, dim3(launch_.vector, launch_.team), 0, stream>>>(
            packed_test_.data(), packed_train_.data(), train_panels_, first, queries, matrix_.data());
        cuda::check_launch();
      });
      stages.stage(this->queue(), "select",
                   [&] { this->select_rows(launch_, first, queries, Stored<D>{matrix_.data(), train_panels_.rows}); });
    }
    stages.stage(this->queue(), "vote", [&] { this->vote_all(); });
  }

 private:
  static std::int64_t packed_bytes(const Knn& knn, const Shard& shard) {
    const Panels train(knn.train.rows(), knn.features), test(shard.rows.size(), knn.features);
    return (train.size() + test.size()) * static_cast<std::int64_t>(sizeof(Packed)) +
           4 * std::max(train.rows, test.rows);
  }
  Launch launch_;
  std::int64_t at_once_ = 0;  ///< queries whose distances are in the matrix
  Panels train_panels_, test_panels_;
  cuda::Array<Packed> packed_train_, packed_test_;
  cuda::Array<float> norms_;
  cuda::Array<D> matrix_;  ///< [at_once x train panels' rows]
};

std::unique_ptr<Prepared> prepare(const Knn& problem, const Context& context) {
  return with_element(problem, [&]<class T, class Element>() { return split<Direct<T, Element>>(problem, context); });
}

const Register<Knn> registered{"direct", cuda::model, prepare};

}  // namespace
}  // namespace league::knn::cuda_model
