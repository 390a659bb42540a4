// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosBlas3_gemm.hpp>

#include "algorithms/distance_matrix/part.hpp"
#include "backends/kokkos/kokkos.hpp"

// Kokkos Kernels' own product (no TPL) multiplies the points of the rows with all points; then, in place, a team takes
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

/// out holds the products.
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
class Kernels final : public DistancePart<kokkos::Array<T>> {
 public:
  Kernels(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistancePart<kokkos::Array<T>>(
            problem, context, shard, {.expanded = true, .extra_bytes = problem.n * std::int64_t{sizeof(T)}},
            [&](const char* label, std::int64_t size) {
              return kokkos::Array<T>(kokkos::instance(context.runtime, context.runtime.queue(shard.device)), label,
                                      size);
            }),
        exec_(kokkos::instance(context.runtime, this->queue())),
        norms_(exec_, "distance_matrix/norms", this->n_) {}
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("Kokkos Kernels chooses its own launch");
    return {};
  }

 private:
  void block(Stages& stages, Range range, T* out) override {
    const Matrix<const T> all(this->points_.data(), static_cast<std::size_t>(this->n_),
                              static_cast<std::size_t>(this->dimension_));
    const Matrix<const T> some(this->points_.data() + range.begin * this->dimension_,
                               static_cast<std::size_t>(range.size()), static_cast<std::size_t>(this->dimension_));
    const Matrix<T> result(out, static_cast<std::size_t>(range.size()), static_cast<std::size_t>(this->n_));
    stages.stage(this->queue(), "norms", [&] { norms_of<T>(exec_, all, norms_.view()); });
    stages.stage(this->queue(), "product", [&] { KokkosBlas::gemm(exec_, "N", "T", T{1}, some, all, T{0}, result); });
    stages.stage(this->queue(), "finish",
                 [&] { finish<T>(exec_, range.begin, this->euclidean_, norms_.view(), result); });
  }
  Exec exec_;
  kokkos::Array<T> norms_;
};

std::unique_ptr<Prepared> prepare(const DistanceMatrix& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() { return split<Kernels<T>>(problem, context); });
}

const Register<DistanceMatrix> variant{"gram", kokkos::library("kokkos_kernels"), prepare};

}  // namespace
}  // namespace league::distance_matrix
