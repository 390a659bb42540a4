// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/kokkos_sum.hpp"
#include "algorithms/sum/parts.hpp"

namespace league::kokkos::sum {
namespace {

using league::sum::ArrayPart, league::sum::Partials;

template <class V>
using Value = Kokkos::View<V, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

// A team takes one chunk after another; a lane every lanes-th pack of it.
template <class T>
void add_atomically(const Exec& exec, TeamLaunch launch, Chunks chunks, Vector<const T> x, Total<T>* sum) {
  Kokkos::deep_copy(exec, Value<Total<T>>(sum), Total<T>{0});
  Kokkos::parallel_for(
      "sum/atomic", Team(exec, launch.league, launch.team, launch.vector), KOKKOS_LAMBDA(const Member& team) {
        const int lanes = launch.lanes();
        Total<T> total = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, lanes),
            [&](int lane, Total<T>& mine) {
              for_chunks(team, launch, chunks, [&](std::int64_t chunk) {
                mine += lane_sum(x.data() + chunk * chunks.chunk, chunks.size_of(chunk), lane, lanes);
              });
            },
            total);
        Kokkos::single(Kokkos::PerTeam(team), [&] { Kokkos::atomic_add(sum, total); });
      });
}

// Kokkos chooses the mapping; an iteration is one element.
template <class T>
void range_reduce(const Exec& exec, Vector<const T> x, Total<T>* sum) {
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_reduce(
      "sum/range_reduce", Range(exec, 0, static_cast<std::int64_t>(x.extent(0))),
      KOKKOS_LAMBDA(std::int64_t i, Total<T>& mine) { mine += x(i); }, Value<Total<T>>(sum));
}

// One team takes all partial sums.
template <class V>
void add_partials(const Exec& exec, int count, const V* partials, V* sum) {
  Kokkos::parallel_for(
      "sum/finish", Team(exec, 1, on_gpu ? league::sum::finish_team(count) : 1, 1), KOKKOS_LAMBDA(const Member& team) {
        const int lanes = team.team_size();  // a run-time value: unrolled for a known one, fewer loads are in flight
        V total = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, lanes),
            [&](int lane, V& mine) { mine += lane_sum(partials, count, lane, lanes); }, total);
        Kokkos::single(Kokkos::PerTeam(team), [&] { *sum = total; });
      });
}

enum class Kernel { two_stage, atomic, range_reduce };

template <class T, Kernel kernel>
class Portable final : public ArrayPart<Array, T> {
 public:
  Portable(const Sum& problem, const Context& context, const Shard& shard)
      : ArrayPart<Array, T>(
            problem, context, shard, kernel == Kernel::two_stage ? Partials::a_chunk : Partials::a_shard,
            [&]<class V>(const char* label, std::int64_t size) {
              return Array<V>(instance(context.runtime, context.runtime.queue(shard.device)), label, size);
            }),
        exec_(instance(context.runtime, this->queue())) {}
  void bind(Outputs& outputs) override {
    if (kernel == Kernel::range_reduce) outputs.at(0).form = Sum::any_order;
  }
  Launch configure(Launch launch) override {
    if (kernel == Kernel::range_reduce && launch != Launch{})
      throw Unsupported("Kokkos chooses the launch of a RangePolicy");
    if (kernel == Kernel::range_reduce) return {};
    return launch_ = sum::configure(launch, this->queue(), this->chunks_);
  }
  void accumulate() override {
    const Vector<const T> x = this->x_.view();
    if constexpr (kernel == Kernel::two_stage) two_stage<T>(exec_, launch_, this->chunks_, x, this->target());
    if constexpr (kernel == Kernel::atomic) add_atomically<T>(exec_, launch_, this->chunks_, x, this->target());
    if constexpr (kernel == Kernel::range_reduce) range_reduce<T>(exec_, x, this->target());
  }
  void finish() override {
    add_partials(exec_, static_cast<int>(this->all_), std::as_const(this->partials_).data(), this->sum_.data());
  }

 private:
  Exec exec_;
  TeamLaunch launch_;
};

template <Kernel kernel>
std::unique_ptr<Prepared> prepare(const Sum& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(
      problem.dtype, [&]<class T>() { return league::sum::gathered<Portable<T, kernel>>(problem, context); });
}

const Register<Sum> two_stage_variant{"two_stage", kokkos::model, prepare<Kernel::two_stage>};
const Register<Sum> atomic_variant{"atomic", kokkos::model, prepare<Kernel::atomic>};
const Register<Sum> range_reduce_variant{"range_reduce", kokkos::model, prepare<Kernel::range_reduce>};

}  // namespace
}  // namespace league::kokkos::sum
