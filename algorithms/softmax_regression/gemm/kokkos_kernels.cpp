// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/common/kokkos_specialised.hpp"
#include "backends/kokkos/kernels.hpp"

// Kokkos Kernels' own products (no TPL) of the rows with the weights, and of the residuals with the rows; a kernel
// between turns logits into residuals.
namespace league::softmax_regression::kokkos_specialised_model {
namespace {

using kokkos::Matrix;

constexpr int rows_of_team = 128, threads_of_team = kokkos::on_gpu ? rows_of_team : 1;

// A thread takes a row at a time.
struct Softmax {
  Descent descent;
  std::int64_t step;
  Rows rows;
  const std::int32_t* labels;
  float* z;
  double* losses;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
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
  }
};

template <class V>
Matrix<V> matrix(V* data, std::int64_t rows, std::int64_t columns) {
  return Matrix<V>(data, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
}

class Kernels final : public IterativeShard {
 public:
  Kernels(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard),
        exec_(kokkos::instance(context.runtime, queue())),
        memory_(*this, problem),
        products_(memory_, rows_of_team) {
    memory_.declare_weights(problem.pitch);
  }
  Launch configure(Launch launch) override {
    if (launch != Launch{}) throw Unsupported("Kokkos Kernels chooses its own launch");
    return {};
  }
  void begin() const override {
    clear_state(exec_, memory_);
    step_ = 0;
  }
  void accumulate() const override {
    const Descent descent = memory_.descent();
    const Rows rows = descent.own_rows(step_);
    const std::int64_t count = rows.last - rows.first;
    const auto x = matrix<const float>(memory_.x.data() + rows.first * descent.pitch, count, descent.pitch);
    const auto weights = matrix<const float>(memory_.weights.data(), descent.classes, descent.pitch);
    const auto logits = matrix(products_.logits.data(), count, descent.classes);
    if (count > 0) kokkos::gemm<float>(exec_, kokkos::Factor::as_is, kokkos::Factor::transposed, x, weights, logits);
    Team policy(exec_, products_.teams, threads_of_team, 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(threads_of_team * 8 + 16));
    Kokkos::parallel_for(
        "softmax/residuals", policy,
        Softmax{descent, step_++, rows, memory_.labels.data(), logits.data(), products_.losses.data()});
    const auto gradient = matrix(products_.gradient.data(), descent.classes, descent.pitch);
    if (count > 0)
      kokkos::gemm<float>(exec_, kokkos::Factor::transposed, kokkos::Factor::as_is,
                          matrix<const float>(logits.data(), count, descent.classes), x, gradient);
    add_partials(exec_, memory_, gradient.data(), 0, count > 0 ? 1 : 0, products_.losses.data(), products_.teams);
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.sums.data(), memory_.sums.size()); }
  void update() const override { take_step(exec_, memory_); }

 private:
  Exec exec_;
  Memory<float, kokkos::Array> memory_;
  Products<kokkos::Array> products_;
  mutable std::int64_t step_ = 0;  ///< host counter for the library's arguments: not recordable
};

const RegisterSolve<SoftmaxRegression> registered{
    "gemm", kokkos::library("kokkos_kernels"), of_one_type<Kernels>, {Execution::stream}};

}  // namespace
}  // namespace league::softmax_regression::kokkos_specialised_model
