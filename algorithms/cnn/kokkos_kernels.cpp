// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/cnn/im2col_shard.hpp"
#include "algorithms/cnn/layers_shard.hpp"
#include "backends/kokkos/kernels.hpp"

// `gemm` with Kokkos Kernels' own products (no TPL).
namespace league::cnn {
namespace {

using layers::Factor;

// One element of an image per thread.
template <class Body>
struct Images {
  Body body;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    body(static_cast<int>(k / Body::per_image), static_cast<int>(k % Body::per_image));
  }
};

class Runner {
 public:
  template <class T>
  using Array = kokkos::Array<T>;

  Runner(const Context& context, Queue& queue) : exec_(kokkos::instance(context.runtime, queue)), queue_(queue) {}
  template <class MethodShard, class WarmUp>
  void declare(MethodShard& /*shard*/, std::int64_t /*max_factor*/, const WarmUp& /*warm_up*/) {}
  template <class Body>
  void elements(int count, const Body& body) const {
    queue_.submit([exec = exec_, count, body] {
      Kokkos::parallel_for("cnn/elements", kokkos::light(Kokkos::RangePolicy<kokkos::Exec>(exec, 0, count)), body);
    });
  }
  template <class Body>
  void images(int count, const Body& body) const {
    using Policy = Kokkos::RangePolicy<kokkos::Exec, Kokkos::IndexType<std::int64_t>>;
    queue_.submit([exec = exec_, count, body] {
      Kokkos::parallel_for("cnn/images", kokkos::light(Policy(exec, 0, std::int64_t{count} * Body::per_image)),
                           Images<Body>{body});
    });
  }
  /// The library has no split-K: one slice.
  static int slices(int /*wanted*/) { return 1; }
  void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, Factor a, Factor b, float* out,
               int /*slices*/ = 1) const {
    queue_.submit([=, exec = exec_] {
      kokkos::gemm<float>(exec, stored(a), stored(b),
                          a.transposed ? matrix(a.values, depth, rows) : matrix(a.values, rows, depth),
                          b.transposed ? matrix(b.values, columns, depth) : matrix(b.values, depth, columns),
                          matrix(out, rows, columns));
    });
  }

 private:
  static kokkos::Factor stored(const Factor& factor) {
    return factor.transposed ? kokkos::Factor::transposed : kokkos::Factor::as_is;
  }
  template <class T>
  static kokkos::Matrix<T> matrix(T* data, std::int64_t rows, std::int64_t columns) {
    return kokkos::Matrix<T>(data, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  }
  kokkos::Exec exec_;
  Queue& queue_;
};

const RegisterTraining<layers::LayersShard<layers::Im2col<Runner, Mnist>>,
                       layers::LayersShard<layers::Im2col<Runner, Cifar10>>>
    gemm{"gemm", kokkos::library("kokkos_kernels")};

}  // namespace
}  // namespace league::cnn
