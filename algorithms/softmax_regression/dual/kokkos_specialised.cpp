// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/common/kokkos_specialised.hpp"

#include "algorithms/softmax_regression/dual/shard.hpp"

namespace league::softmax_regression::kokkos_specialised_model {
namespace {

int subgroup() { return kokkos::on_gpu ? Team::vector_length_max() : 1; }

// A team takes an element of K at a time.
template <class T>
void multiply_rows(const Exec& exec, Queue& queue, int threads, std::int64_t league, const DualWork<T>& work) {
  Team policy(exec, static_cast<int>(league), threads, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(threads * 8 + 16));
  kokkos::submit(
      queue, "softmax/multiply_rows", policy, KOKKOS_LAMBDA(const Member& team) {
        const auto group = blocks::team_group(team, threads);
        double* parts = scratch_of<double>(team, threads);
        const int rows = work.rows(), all = rows * rows;
        for (int i = static_cast<int>(team.league_rank()); i < all; i += static_cast<int>(team.league_size())) {
          parts[group.rank] = work.product(i / rows, i % rows, group.rank, group.size);
          blocks::combine_in_scratch(group, parts, [](double a, double b) { return a + b; });
          if (group.rank == 0) work.gram[i] = parts[0];
          team.team_barrier();
        }
      });
}

// One team takes all steps, a thread takes one row and class at a time.
template <class T>
void dual(const Exec& exec, Queue& queue, int threads, int scratch_bytes, const DualWork<T>& work) {
  Team policy(exec, 1, threads, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes + 16));
  kokkos::submit(
      queue, "softmax/dual", policy, KOKKOS_LAMBDA(const Member& team) {
        take_dual_steps(blocks::team_group(team, threads), work,
                        reinterpret_cast<double*>(scratch_of<char>(team, scratch_bytes)));
      });
}

// A thread takes a parameter.
template <class T>
void add_rows(const Exec& exec, Queue& queue, std::int64_t parameters, const DualWork<T>& work) {
  constexpr int threads = kokkos::on_gpu ? 128 : 1;
  kokkos::submit(
      queue, "softmax/add_rows", Team(exec, static_cast<int>(ceil_div<std::int64_t>(parameters, threads)), threads, 1),
      KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t index = team.league_rank() * threads + team.team_rank();
        if (index < parameters) work.store_theta(index);
      });
}

template <class T>
class Dual final : public IterativeShard {
 public:
  Dual(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard),
        exec_(kokkos::instance(context.runtime, queue())),
        memory_(*this, context, problem) {}
  Launch configure(Launch launch) override {
    kokkos::require_scratch(static_cast<std::size_t>(memory_.scratch_bytes()) + 16, "the logits of all rows");
    return memory_.configure(launch, kokkos::limits(queue()), subgroup());
  }
  void begin() const override {
    multiply_rows(exec_, queue(), memory_.product_threads(subgroup()),
                  std::min<std::int64_t>(memory_.products(), max_league), memory_.work());
  }
  void accumulate() const override {
    dual(exec_, queue(), memory_.launch.team, memory_.scratch_bytes(), memory_.work());
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.rows.sums.data(), memory_.rows.sums.size()); }
  void update() const override { add_rows(exec_, queue(), memory_.parameters(), memory_.work()); }

 private:
  Exec exec_;
  DualMemory<T, kokkos::Array> memory_;
};

const RegisterWholeSolve<SoftmaxRegression> dual_variant{"dual", kokkos::specialised_model, by_type<Dual>};

}  // namespace
}  // namespace league::softmax_regression::kokkos_specialised_model
