// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/common/shard.hpp"
#include "backends/kokkos/kernels.hpp"

// Kokkos Kernels' own product (no TPL) multiplies the points of the rows with all points. Then, in place, a team takes
// a row of distances, its lanes neighbouring columns.
namespace league::distance_matrix {
namespace {

using kokkos::Exec, kokkos::Matrix, kokkos::Member, kokkos::Team, kokkos::Vector;
constexpr int team_size = kokkos::on_gpu ? 256 : 1;

template <class T>
void norms_of(const Exec& exec, Matrix<const T> points, Vector<T> norms) {
  const auto n = static_cast<std::int64_t>(points.extent(0)), dimension = static_cast<std::int64_t>(points.extent(1));
  const int league = league_of(ceil_div<std::int64_t>(n, 256));
  Kokkos::parallel_for(
      "distance_matrix/norms", Team(exec, league, team_size, 1), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t first = std::int64_t{team.league_rank()} * 256, last = first + 256 < n ? first + 256 : n;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, first, last), [&](std::int64_t row) {
          double norm = 0;
          for (std::int64_t k = 0; k < dimension; ++k) {
            const double value = points(row, k);
            norm += value * value;
          }
          norms(row) = static_cast<T>(norm);
        });
      });
}

/// Products in `out` to distances, in place.
template <class T>
void finish(const Exec& exec, std::int64_t first, bool euclidean, Vector<T> norms, Matrix<T> out) {
  const auto n = static_cast<std::int64_t>(out.extent(1));
  const int rows = static_cast<int>(out.extent(0));
  Kokkos::parallel_for(
      "distance_matrix/finish", Team(exec, rows, team_size, 1), KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t row = team.league_rank();
        const T norm = norms(first + row);
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](std::int64_t column) {
          const T squared = norm + norms(column) - 2 * out(row, column);
          const T distance = first + row == column || squared < 0 ? T{0} : squared;
          out(row, column) = euclidean ? Kokkos::sqrt(distance) : distance;
        });
      });
}

template <class T>
class Kernels final : public DistanceShard {
 public:
  Kernels(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())) {
    declare(norms_, "distance_matrix/norms", problem.n);
    declare_matrix(points_, out_, {.expanded = true});
  }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("Kokkos Kernels chooses its own launch");
    return {};
  }

 private:
  void block(Stages& stages, Range range) override {
    const auto n = static_cast<std::size_t>(problem().n), dimension = static_cast<std::size_t>(problem().dimension),
               rows = static_cast<std::size_t>(range.size());
    const Matrix<const T> all(points_.data(), n, dimension);
    const Matrix<const T> some(points_.data() + range.begin * problem().dimension, rows, dimension);
    const Matrix<T> result(out_.data(), rows, n);
    stages.stage(queue(), "norms", [&] { norms_of<T>(exec_, all, norms_.view()); });
    stages.stage(queue(), "product",
                 [&] { kokkos::gemm<T>(exec_, kokkos::Factor::as_is, kokkos::Factor::transposed, some, all, result); });
    stages.stage(queue(), "finish", [&] { finish<T>(exec_, range.begin, problem().euclidean, norms_.view(), result); });
  }
  const Exec& exec_;
  kokkos::Array<T> points_, out_, norms_;
};

const RegisterSplit<DistanceMatrix> variant{"gram", kokkos::library("kokkos_kernels"), by_type<Kernels>};

}  // namespace
}  // namespace league::distance_matrix
