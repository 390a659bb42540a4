// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/kokkos.hpp"

#include "algorithms/blocks/pack.hpp"
#include "algorithms/ceilings/packs.hpp"
#include "algorithms/ceilings/part.hpp"

// A team takes a chunk of 16 KiB at a time, a lane every lanes-th pack of 16 bytes, four loads before their four
// stores; for multiply_add, a lane takes one row of chains. On a host a pack is a cache line, and a lane takes as many
// rows at a time as keep its vector units busy.
namespace league::ceilings {
namespace {

using kokkos::Exec, kokkos::Member, kokkos::Team, kokkos::Vector;
constexpr int pack_bytes = kokkos::on_gpu ? 16 : 64;
template <class T>
using Pack = blocks::Pack<T, pack_bytes>;
constexpr int packs = chunk_bytes / pack_bytes;  // of a chunk
constexpr int at_once = kokkos::on_gpu ? 4 : 1;
template <class T>
constexpr int rows_at_once = kokkos::on_gpu ? 1 : host_rows<T>;

/// Chunks that a team takes one after another: on a host enough to be worth its start.
constexpr int run = kokkos::on_gpu ? 1 : 64;

template <class Body>
KOKKOS_INLINE_FUNCTION void for_chunks(const Member& team, std::int64_t chunks, const Body& body) {
  for (std::int64_t first = std::int64_t{team.league_rank()} * run; first < chunks;
       first += std::int64_t{team.league_size()} * run)
    for (std::int64_t chunk = first; chunk < first + run && chunk < chunks; ++chunk) body(chunk);
  blocks::finish_streaming();
}

Team policy(const Exec& exec, Launch launch) { return Team(exec, launch.league, launch.team, launch.vector); }

template <class T>
void copy(const Exec& exec, Launch launch, std::int64_t chunks, Vector<const T> a, Vector<T> out) {
  Kokkos::parallel_for(
      "ceilings/copy", policy(exec, launch), KOKKOS_LAMBDA(const Member& team) {
        const int lanes = launch.team * launch.vector;
        for_chunks(team, chunks, [&](std::int64_t chunk) {
          const auto* from = reinterpret_cast<const Pack<T>*>(a.data()) + chunk * packs;
          auto* to = reinterpret_cast<Pack<T>*>(out.data()) + chunk * packs;
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
              Pack<T> x[count];
              for (int k = 0; k < count; ++k) x[k] = from[p + k * lanes];
              for (int k = 0; k < count; ++k) blocks::store_streaming(to + p + k * lanes, x[k]);
            });
          });
        });
      });
}

/// A lane's share of the sum of a chunk.
template <class T>
KOKKOS_INLINE_FUNCTION T lane_sum(const Pack<T>* from, int lane, int lanes) {
  if constexpr (kokkos::on_gpu) {
    T sum = 0;
    for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
      Pack<T> x[count];
      for (int k = 0; k < count; ++k) x[k] = from[p + k * lanes];
      for (int k = 0; k < count; ++k)
        for (const T value : x[k].values) sum += value;
    });
    return sum;
  } else {
    return chunk_sum(from->values, lane, lanes);
  }
}

template <class T>
void read(const Exec& exec, Launch launch, std::int64_t chunks, Vector<const T> a, Vector<T> sums) {
  Kokkos::parallel_for(
      "ceilings/read", policy(exec, launch), KOKKOS_LAMBDA(const Member& team) {
        const int lanes = launch.team * launch.vector;
        for_chunks(team, chunks, [&](std::int64_t chunk) {
          const auto* from = reinterpret_cast<const Pack<T>*>(a.data()) + chunk * packs;
          T total = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamVectorRange(team, lanes), [&](int lane, T& sum) { sum += lane_sum(from, lane, lanes); },
              total);
          Kokkos::single(Kokkos::PerTeam(team), [&] { sums(chunk) = total; });
        });
      });
}

template <class T>
void write(const Exec& exec, Launch launch, std::int64_t chunks, std::int64_t first, Vector<T> out) {
  Kokkos::parallel_for(
      "ceilings/write", policy(exec, launch), KOKKOS_LAMBDA(const Member& team) {
        const int lanes = launch.team * launch.vector;
        for_chunks(team, chunks, [&](std::int64_t chunk) {
          auto* to = reinterpret_cast<Pack<T>*>(out.data()) + chunk * packs;
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            Pack<T> value;
            for (T& element : value.values) element = written<T>(first + chunk);
            for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
              for (int k = 0; k < count; ++k) blocks::store_streaming(to + p + k * lanes, value);
            });
          });
        });
      });
}

template <class T>
void add(const Exec& exec, Launch launch, std::int64_t chunks, Vector<const T> a, Vector<const T> b, Vector<T> out) {
  Kokkos::parallel_for(
      "ceilings/add", policy(exec, launch), KOKKOS_LAMBDA(const Member& team) {
        const int lanes = launch.team * launch.vector;
        for_chunks(team, chunks, [&](std::int64_t chunk) {
          const auto* from_a = reinterpret_cast<const Pack<T>*>(a.data()) + chunk * packs;
          const auto* from_b = reinterpret_cast<const Pack<T>*>(b.data()) + chunk * packs;
          auto* to = reinterpret_cast<Pack<T>*>(out.data()) + chunk * packs;
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
              Pack<T> x[count], y[count];
              for (int k = 0; k < count; ++k) x[k] = from_a[p + k * lanes], y[k] = from_b[p + k * lanes];
              for (int k = 0; k < count; ++k) blocks::store_streaming(to + p + k * lanes, x[k] + y[k]);
            });
          });
        });
      });
}

template <class T, int n>
KOKKOS_INLINE_FUNCTION void advance_lane(T (&x)[n], T factor, T even, T odd, int steps) {
  if constexpr (kokkos::on_gpu)
    advance(x, factor, even, odd, steps);
  else
    advance_vectors(x, factor, even, odd, steps);
}

template <class T>
void multiply_add(const Exec& exec, Launch launch, std::int64_t rows, std::int64_t first, T factor, T even, T odd,
                  int steps, Vector<T> sums) {
  Kokkos::parallel_for(
      "ceilings/multiply_add", policy(exec, launch), KOKKOS_LAMBDA(const Member& team) {
        constexpr int group = rows_at_once<T>;
        const int lanes = launch.team * launch.vector;
        for (std::int64_t block = std::int64_t{team.league_rank()} * lanes; block * group < rows;
             block += std::int64_t{team.league_size()} * lanes)
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            const std::int64_t row = (block + lane) * group;
            T x[group * chains];
            for (int k = 0; k < group * chains; ++k) x[k] = start<T>(first + row + k / chains, k % chains);
            advance_lane(x, factor, even, odd, steps);
            for (int k = 0; k < group && row + k < rows; ++k) sums(row + k) = row_sum(x + k * chains);
          });
      });
}

template <class T>
class Portable final : public CeilingPart<kokkos::Array<T>> {
 public:
  Portable(const Ceilings& problem, const Context& context, const Shard& shard)
      : CeilingPart<kokkos::Array<T>>(problem, context, shard,
                                      [&](const char* label, std::int64_t size) {
                                        return kokkos::Array<T>(
                                            kokkos::instance(context.runtime, context.runtime.queue(shard.device)),
                                            label, size);
                                      }),
        exec_(kokkos::instance(context.runtime, this->queue())) {}
  Launch configure(Launch launch) override {
    // A team of `read` ends in a reduction: smaller ones have less to wait for.
    const int threads = this->kernel_ == Kernel::read ? 128 : 256;
    launch_ = resolve(launch, kokkos::on_gpu ? Launch{0, threads, 1} : Launch{0, 1, 1}, kokkos::limits(this->queue()));
    const int group = this->kernel_ == Kernel::multiply_add ? launch_.team * launch_.vector * rows_at_once<T> : run;
    if (launch_.league == 0) launch_.league = league_of(ceil_div<std::int64_t>(this->rows().size(), group));
    return launch_;
  }
  void compute(Stages& stages) override {
    stages.stage(this->queue(), "ceiling",
                 [this] { launch(this->rows().size(), this->rows().begin, this->out_.view()); });
  }

 private:
  void launch(std::int64_t rows, std::int64_t first, const Vector<T>& out) {
    switch (this->kernel_) {
      case Kernel::copy:
        return copy<T>(exec_, launch_, rows, this->a_.view(), out);
      case Kernel::read:
        return read<T>(exec_, launch_, rows, this->a_.view(), out);
      case Kernel::write:
        return write<T>(exec_, launch_, rows, first, out);
      case Kernel::add:
        return add<T>(exec_, launch_, rows, this->a_.view(), this->b_.view(), out);
      case Kernel::multiply_add:
        return multiply_add<T>(exec_, launch_, rows, first, this->factor_, this->even_, this->odd_, this->steps_, out);
      case Kernel::tensor:  // CUDA only
        return;
    }
  }
  Exec exec_;
  Launch launch_;
};

std::unique_ptr<Prepared> prepare(const Ceilings& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(problem.dtype,
                                                [&]<class T>() { return split<Portable<T>>(problem, context); });
}

const RegisterAll variants{kokkos::model, prepare};

}  // namespace
}  // namespace league::ceilings
