// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/distance_matrix/host_part.hpp"
#include "backends/host_array.hpp"

// A thread takes rows of tiles (12 x 2 vectors with AVX-512, 6 x 2 otherwise), its vector lanes neighbouring columns.
namespace league::distance_matrix {
namespace {

template <class T, Method method>
class OpenMp final : public HostPart<host::Array<T>, method> {
 public:
  OpenMp(const DistanceMatrix& problem, const Context& context, const Shard& shard)
      : HostPart<host::Array<T>, method>(problem, context, shard, [&](const char*, std::int64_t size) {
          return host::Array<T>(context.runtime.queue(shard.device), size);
        }) {}
  Launch configure(Launch launch) override {
    threads_ = openmp::threads(this->queue(), launch);
    return {threads_, 1, 1};
  }

 private:
  void block(Stages& stages, Range range, T* out) override {
    const auto each = [this](const char*, std::int64_t items, const auto& body) {
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
      for (std::int64_t item = 0; item < items; ++item) body(item);
    };
    HostPart<host::Array<T>, method>::block(stages, range, out, this->group(threads_), each);
  }
  int threads_ = 1;
};

template <Method method>
std::unique_ptr<Prepared> prepare(const DistanceMatrix& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() { return split<OpenMp<T, method>>(problem, context); });
}

const Register<DistanceMatrix> direct{"direct", openmp::model, prepare<Method::direct>};
const Register<DistanceMatrix> tiled{"tiled", openmp::model, prepare<Method::tiled>};
const Register<DistanceMatrix> symmetric{"symmetric", openmp::model, prepare<Method::symmetric>};
const Register<DistanceMatrix> product{"product", openmp::model, prepare<Method::product>};

}  // namespace
}  // namespace league::distance_matrix
