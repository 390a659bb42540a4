// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/product_tile_kokkos.hpp"
#include "algorithms/knn/kokkos_host.hpp"

namespace league::knn::kokkos_model {
namespace {

using blocks::Pack, blocks::Panels;

constexpr int side = 4;            ///< of the square of distances that a lane keeps
constexpr int most_threads = 512;  ///< of a team, so that the square stays in registers

// A thread takes four queries, each of its lanes four training rows: a square of differences, from packed panels.
template <class Element, class D>
void direct(const Exec& exec, Launch launch, const typename Element::Packed* test,
            const typename Element::Packed* train, Panels panels, std::int64_t first, std::int64_t queries, D* matrix) {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<most_threads, 1>>;
  Kokkos::parallel_for(
      "knn/direct", Policy(exec, launch.league, launch.team, launch.vector),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        using Packet = Pack<typename Element::Packed, side* static_cast<int>(sizeof(typename Element::Packed))>;
        const std::int64_t columns = panels.rows;
        const int wide = side * launch.vector, high = side * launch.team;
        const std::int64_t across = (columns + wide - 1) / wide, down = (queries + high - 1) / high;
        for (std::int64_t item = team.league_rank(); item < across * down; item += team.league_size()) {
          const std::int64_t row = item % down * high + team.team_rank() * side;
          if (row >= queries) continue;
          Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, launch.vector), [&](int lane) {
            const std::int64_t column = item / down * wide + lane * side;
            if (column >= columns) return;
            const auto* x = test + panels.first(first + row);
            const auto* y = train + panels.first(column);
            Pack<D, side* static_cast<int>(sizeof(D))> total[side] = {};
            for (int begin = 0; begin < panels.depth; begin += exact_terms) {
              float sum[side][side] = {};
              const int end = begin + exact_terms < panels.depth ? begin + exact_terms : panels.depth;
              for (int f = begin; f < end; ++f, x += Panels::width, y += Panels::width) {
                const Packet a = *reinterpret_cast<const Packet*>(x), b = *reinterpret_cast<const Packet*>(y);
                for (int i = 0; i < side; ++i)
                  for (int j = 0; j < side; ++j) {
                    const float difference = Element::widen(a.values[i]) - Element::widen(b.values[j]);
                    sum[i][j] += difference * difference;
                  }
              }
              for (int i = 0; i < side; ++i)
                for (int j = 0; j < side; ++j) total[i].values[j] += static_cast<D>(sum[i][j]);
            }
            for (int i = 0; i < side; ++i)
              *reinterpret_cast<Pack<D>*>(matrix + (row + i) * columns + column) = total[i];
          });
        }
      });
}

template <class T, class Element>
class DirectOnGpu final : public KokkosPart<T> {
  using D = Distance<Element>;
  using Packed = typename Element::Packed;

 public:
  DirectOnGpu(const Knn& knn, const Context& context, const Shard& shard)
      : KokkosPart<T>(knn, context, shard, packed_bytes(knn, shard)),
        train_panels_(this->n_, this->features_),
        test_panels_(this->m_, this->features_),
        packed_train_(this->exec_, "knn/packed_train", train_panels_.size()),
        packed_test_(this->exec_, "knn/packed_test", test_panels_.size()),
        norms_(this->exec_, "knn/norms", std::max(train_panels_.rows, test_panels_.rows)) {}

  Launch configure(Launch launch) override {
    const int lanes = kokkos::limits(this->queue()).vector;
    launch_ = resolve(launch, {0, 8, lanes}, {most_threads, lanes, "this kernel"});
    const std::int64_t row_bytes = train_panels_.rows * static_cast<std::int64_t>(sizeof(D));
    require_memory(this->bytes_ + std::min<std::int64_t>(side, test_panels_.rows) * row_bytes, this->budget_bytes_);
    at_once_ = std::min(test_panels_.rows, (this->budget_bytes_ - this->bytes_) / row_bytes / side * side);
    matrix_ = {};
    matrix_ = {this->exec_, "knn/matrix", at_once_ * train_panels_.rows};
    launch_.tile = side;
    if (launch_.league == 0)
      launch_.league = league_of(ceil_div<std::int64_t>(train_panels_.rows, side * launch_.vector) *
                                 ceil_div<std::int64_t>(std::min(at_once_, this->m_), side * launch_.team));
    return launch_;
  }
  void compute(Stages& stages) override {
    stages.stage(this->queue(), "pack", [&] {
      blocks::pack<Element>(this->exec_, this->train_.data(), this->n_, this->features_, packed_train_.data(),
                            norms_.data());
      blocks::pack<Element>(this->exec_, this->test_.data(), this->m_, this->features_, packed_test_.data(),
                            norms_.data());
    });
    for (std::int64_t first = 0; first < this->m_; first += at_once_) {
      const std::int64_t queries = std::min(at_once_, this->m_ - first);
      stages.stage(this->queue(), "distance", [&] {
        direct<Element>(this->exec_, launch_, packed_test_.data(), packed_train_.data(), train_panels_, first, queries,
                        matrix_.data());
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
  kokkos::Array<Packed> packed_train_, packed_test_;
  kokkos::Array<float> norms_;
  kokkos::Array<D> matrix_;  ///< [at_once x train panels' rows]
};

std::unique_ptr<Prepared> prepare(const Knn& problem, const Context& context) {
  return with_element(problem, [&]<class T, class Element>() {
    if constexpr (kokkos::on_gpu)
      return split<DirectOnGpu<T, Element>>(problem, context);
    else
      return split<KokkosOnHost<T, Element, false>>(problem, context);
  });
}

const Register<Knn> registered{"direct", kokkos::model, prepare};

}  // namespace
}  // namespace league::knn::kokkos_model
