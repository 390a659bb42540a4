// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After the loop over the entries of a matrix in the MDRangePolicy exercise of Kokkos' tutorials
// (kokkos-tutorials, Exercises/mdrange/Solution/exercise_mdrange_solution.cpp), written anew.
#include "algorithms/distance_matrix/common/shard.hpp"
#include "backends/kokkos/flat.hpp"

namespace league::distance_matrix::kokkos_model {
namespace {

using kokkos::Exec, kokkos::Matrix;

template <class T>
class Flat final : public DistanceShard {
 public:
  Flat(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : DistanceShard(problem, context, shard), exec_(kokkos::instance(runtime(), queue())) {
    declare_matrix(points_, out_, {});
  }
  Launch configure(Launch launch) override {
    if (launch.tile > 1) throw Unsupported("a flat kernel over a matrix takes a tile of vector x team entries");
    return launch_ = kokkos::resolve_flat_tile(queue(), launch);
  }
  static void run(const Exec& exec, Launch launch, Range range, int dimension, bool roots,
                  const Matrix<const T>& points, const Matrix<T>& distances) {
    using RowMajor = Kokkos::Rank<2, Kokkos::Iterate::Right, Kokkos::Iterate::Right>;  // as the data are
    using Policy = Kokkos::MDRangePolicy<Exec, RowMajor, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(
        "distance_matrix/flat",
        Policy(exec, {range.begin, 0}, {range.end, static_cast<std::int64_t>(points.extent(0))},
               {launch.team, launch.vector}),
        KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) {
          T squared = 0;
          for (int k = 0; k < dimension; ++k) {
            const T difference = points(i, k) - points(j, k);
            squared += difference * difference;
          }
          distances(i - range.begin, j) = roots ? Kokkos::sqrt(squared) : squared;
        });
  }

 private:
  void block(Stages& stages, Range range) override {
    const std::int64_t n = problem().n, dimension = problem().dimension;
    stages.stage(queue(), "distance", [&] {
      run(exec_, launch_, range, static_cast<int>(dimension), problem().euclidean, points_.matrix(n, dimension),
          out_.matrix(range.size(), n));
    });
  }

  const Exec& exec_;
  Launch launch_;
  kokkos::Array<T> points_, out_;
};

const RegisterSplit<DistanceMatrix> flat{"flat", written_once(kokkos::model), by_type<Flat>};

}  // namespace
}  // namespace league::distance_matrix::kokkos_model
