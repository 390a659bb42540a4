// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/kokkos.hpp"

#include "algorithms/split.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "algorithms/vector_add/wide.hpp"

namespace league {
namespace {

using kokkos::Exec, kokkos::Member, kokkos::Team, kokkos::Vector;

// A team takes `tile` consecutive elements at a time, each lane of its threads one.
template <class T>
void add_plain(const Exec& exec, Launch launch, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  const auto n = static_cast<std::int64_t>(sum.extent(0));
  Kokkos::parallel_for("vector_add/plain", Team(exec, launch.league, launch.team, launch.vector), KOKKOS_LAMBDA(const Member& team) {
    const std::int64_t tile = launch.tile;
    for (std::int64_t first = team.league_rank() * tile; first < n; first += team.league_size() * tile)
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, first, first + tile < n ? first + tile : n),
                           [&](std::int64_t i) { sum(i) = a(i) + b(i); });
  });
}

template <class T>
void fill_index(const Exec& exec, Launch launch, std::int64_t begin, Vector<T> index) {
  const auto n = static_cast<std::int64_t>(index.extent(0));
  Kokkos::parallel_for("vector_add/fill", Team(exec, launch.league, launch.team, launch.vector), KOKKOS_LAMBDA(const Member& team) {
    const std::int64_t tile = launch.tile;
    for (std::int64_t first = team.league_rank() * tile; first < n; first += team.league_size() * tile)
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, first, first + tile < n ? first + tile : n),
                           [&](std::int64_t i) { index(i) = static_cast<T>(begin + i); });
  });
}

// A team takes `tile` elements at a time as packs of 16 bytes, a lane every lanes-th of them, all loads first.
template <class T>
void add_wide(const Exec& exec, Launch launch, Vector<const T> a, Vector<const T> b, Vector<T> sum) {
  const auto n = static_cast<std::int64_t>(sum.extent(0));
  const auto* packs_a = reinterpret_cast<const Pack<T>*>(a.data());
  const auto* packs_b = reinterpret_cast<const Pack<T>*>(b.data());
  auto* packs_sum = reinterpret_cast<Pack<T>*>(sum.data());
  const int lanes = launch.tile / (packs_a_lane * Pack<T>::size);
  Kokkos::parallel_for("vector_add/wide", Team(exec, launch.league, launch.team, launch.vector), KOKKOS_LAMBDA(const Member& team) {
    const std::int64_t packs = n / Pack<T>::size, block = std::int64_t{lanes} * packs_a_lane;
    for (std::int64_t first = team.league_rank() * block; first < packs; first += team.league_size() * block) {
      if (first + block <= packs) {
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
          const std::int64_t mine = first + lane;
          Pack<T> x[packs_a_lane], y[packs_a_lane];
          for (int k = 0; k < packs_a_lane; ++k) x[k] = packs_a[mine + k * lanes], y[k] = packs_b[mine + k * lanes];
          for (int k = 0; k < packs_a_lane; ++k) packs_sum[mine + k * lanes] = x[k] + y[k];
        });
      } else {
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, first, packs),
                             [&](std::int64_t i) { packs_sum[i] = packs_a[i] + packs_b[i]; });
      }
    }
    if (team.league_rank() == 0)
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, packs * Pack<T>::size, n), [&](std::int64_t i) { sum(i) = a(i) + b(i); });
  });
}

enum class Kernel { plain, wide, fill };

template <class T, Kernel kernel>
class Portable final : public Part {
 public:
  Portable(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard),
        exec_(kokkos::instance(context.runtime, queue())),
        out_(exec_, "vector_add/out", rows().size()) {
    problem.require_device_memory();
    output(out_, 0);
    if constexpr (kernel != Kernel::fill) {
      a_ = {exec_, "vector_add/a", rows().size()};
      b_ = {exec_, "vector_add/b", rows().size()};
      input(a_, problem.a.values<T>(rows().begin, rows().end));
      input(b_, problem.b.values<T>(rows().begin, rows().end));
    }
  }
  Launch configure(Launch launch) override {
    constexpr int per_lane = kernel == Kernel::wide ? packs_a_lane * Pack<T>::size : 1;
    launch_ = resolve(launch, kokkos::on_gpu ? Launch{0, 256, 1} : Launch{0, 1, 1}, kokkos::limits(queue()));
    // On a host a lane is a step of a thread's loop: a team takes a block that is worth its start.
    launch_.tile = per_lane * (kokkos::on_gpu ? launch_.team * launch_.vector : 4096);
    if (launch_.league == 0) launch_.league = league_for(rows().size(), launch_.tile);
    return launch_;
  }
  void compute(Stages& stages) override {
    stages.stage(queue(), kernel == Kernel::fill ? "fill" : "add", [&] {
      if constexpr (kernel == Kernel::plain) add_plain<T>(exec_, launch_, a_.view(), b_.view(), out_.view());
      if constexpr (kernel == Kernel::wide) add_wide<T>(exec_, launch_, a_.view(), b_.view(), out_.view());
      if constexpr (kernel == Kernel::fill) fill_index<T>(exec_, launch_, rows().begin, out_.view());
    });
  }

 private:
  Exec exec_;
  Launch launch_;
  kokkos::Array<T> out_, a_, b_;
};

template <Kernel kernel>
std::unique_ptr<Prepared> prepare(const VectorAdd& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(problem.dtype, [&]<class T>() { return split<Portable<T, kernel>>(problem, context); });
}

const Register<VectorAdd> plain{"plain", kokkos::model, prepare<Kernel::plain>};
const Register<VectorAdd> wide{"wide", kokkos::model, prepare<Kernel::wide>};
const Register<VectorAdd> filled{"fill", kokkos::model, prepare<Kernel::fill>};

}  // namespace
}  // namespace league
