// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosBlas3_gemm.hpp>

#include "algorithms/softmax_regression/kokkos_part.hpp"

// Kokkos Kernels' own products (no TPL) of the rows with the weights, and of the residuals with the rows; a kernel
// makes residuals of logits.
namespace league::softmax_regression::kokkos_model {
namespace {

using kokkos::Matrix;

constexpr int rows_of_team = 128, threads_of_team = kokkos::on_gpu ? rows_of_team : 1;

// A thread takes a row at a time.
void softmax(const Exec& exec, const Descent& descent, std::int64_t step, Rows rows, int teams,
             const std::int32_t* labels, float* z, double* losses) {
  Team policy(exec, teams, threads_of_team, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(threads_of_team * 8 + 16));
  Kokkos::parallel_for(
      "softmax/residuals", policy, KOKKOS_LAMBDA(const Member& team) {
        double* scratch = scratch_of<double>(team, threads_of_team);
        const int thread = static_cast<int>(team.team_rank());
        double loss = team.league_rank() == 0 ? descent.penalty(step, thread, threads_of_team) : 0;
        if (team.league_rank() == 0 && thread == 0) *descent.current = step;
        for (int i = thread; i < rows_of_team; i += threads_of_team) {
          const std::int64_t row = std::int64_t{team.league_rank()} * rows_of_team + i;
          if (row < rows.last - rows.first)
            loss += softmax_row(z + row * descent.classes, descent.classes, labels[rows.first + row], InOrder{});
        }
        store_loss(team, loss, losses, scratch);
      });
}

class Kernels final : public KokkosPart<float> {
 public:
  Kernels(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : KokkosPart(problem, context, shard) {
    teams_ = league_of(ceil_div<std::int64_t>(most_rows(), rows_of_team));
    require_memory(bytes_ + most_rows() * problem.classes * 4 + teams_ * 8, budget_bytes_);
    const auto make = maker();
    make_weights(static_cast<int>(problem.pitch), make);
    make("softmax/logits", logits_, most_rows() * problem.classes);
    make("softmax/gradient", gradient_, problem.classes * problem.pitch);
    make("softmax/losses", losses_, teams_);
  }
  void bind(Outputs& outputs) override { outputs.at(SoftmaxRegression::theta).form = SoftmaxRegression::product; }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("Kokkos Kernels chooses its own launch");
    return {};
  }
  void begin() override {
    KokkosPart::begin();
    step_ = 0;
  }
  void accumulate() override {
    const Descent descent = this->descent();
    const Rows rows = descent.own_rows(step_);
    const std::int64_t count = rows.last - rows.first;
    const auto x = matrix<const float>(x_.data() + rows.first * descent.pitch, count, descent.pitch);
    if (count > 0)
      KokkosBlas::gemm(exec_, "N", "T", 1.0F, x, matrix<const float>(weights_.data(), descent.classes, descent.pitch),
                       0.0F, matrix<float>(logits_.data(), count, descent.classes));
    softmax(exec_, descent, step_++, rows, teams_, labels_.data(), logits_.data(), losses_.data());
    if (count > 0)
      KokkosBlas::gemm(exec_, "T", "N", 1.0F, matrix<const float>(logits_.data(), count, descent.classes), x, 0.0F,
                       matrix<float>(gradient_.data(), descent.classes, descent.pitch));
    add_partials(static_cast<const float*>(gradient_.data()), 0, count > 0 ? 1 : 0, teams_);
  }

 private:
  template <class V>
  static Matrix<V> matrix(V* data, std::int64_t rows, std::int64_t columns) {
    return Matrix<V>(data, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  }
  int teams_;
  std::int64_t step_ = 0;  ///< the library is told where a batch begins
  kokkos::Array<float> logits_, gradient_;
};

std::unique_ptr<Prepared> prepare(const SoftmaxRegression& problem, const Context& context) {
  return solve<Kernels>(problem, context, problem.steps, Execution::stepwise);
}

const Register<SoftmaxRegression> registered{"gemm", kokkos::library("kokkos_kernels"), prepare};

}  // namespace
}  // namespace league::softmax_regression::kokkos_model
