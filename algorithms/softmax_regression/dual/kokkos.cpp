// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/common/kokkos.hpp"

#include "algorithms/blocks/exponentials.hpp"
#include "algorithms/blocks/once_per_team_kokkos.hpp"
#include "algorithms/softmax_regression/common/dual_limits.hpp"

// Weights that start at zero stay sums of the rows, W = sum over rows i of x_i a_i. With K = X X^T, a step changes the
// rows' logits by products of K and the residuals: neither W nor X is read until the end. All in double, except for the
// exponentials.
namespace league::softmax_regression::kokkos_model {
namespace {

/// Of the one team that takes all steps; of a team that adds a product of two rows.
constexpr Numbers of_steps = blocks::by_kind({.team = DualLimits::max_threads}, {.team = 1});
constexpr Numbers of_products = blocks::by_kind({.team = 1, .vector = 32}, {.team = 1, .vector = 1});
constexpr Numbers of_parameters = blocks::by_kind({.tile = 128, .team = 128}, {.tile = 512, .team = 1});

template <class T>
struct Work {
  State state;
  Vector<const T> x;
  Vector<const std::int32_t> labels;
  Vector<double> gram, alpha;  ///< K [rows x rows], without the constant feature; [classes x rows], then the biases
  int rows;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double feature(std::int64_t row, int f) const {
    return static_cast<double>(x(row * state.rule.pitch + f));
  }
};

// A team takes an element of K at a time, its lanes the features.
template <class T>
void multiply_rows(Queue& queue, const Exec& exec, const Work<T>& work) {
  const int elements = work.rows * work.rows;
  kokkos::submit(
      queue, "softmax/multiply_rows", kokkos::light(Team(exec, elements, of_products.team, of_products.vector)),
      KOKKOS_LAMBDA(const Member& team) {
        const auto i = static_cast<int>(team.league_rank()), a = i / work.rows, b = i % work.rows;
        double product = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, work.state.rule.features),
            [&](int f, double& sum) { sum += work.feature(a, f) * work.feature(b, f); }, product);
        const double scale = work.state.rule.scale;
        blocks::once_per_team(team, [&] { work.gram(i) = product * scale * scale; });
      });
}

/// All steps, by one team: a lane takes a row and class at a time.
template <class T>
class Steps {
  template <class Value>
  using Scratch = Kokkos::View<Value*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  static std::size_t bytes(int rows, int classes) {
    const auto items = static_cast<std::size_t>(rows * classes);
    return 3 * Scratch<double>::shmem_size(items) + Scratch<double>::shmem_size(static_cast<std::size_t>(rows)) +
           Scratch<double>::shmem_size(static_cast<std::size_t>(classes)) + Scratch<float>::shmem_size(items);
  }
  KOKKOS_FORCEINLINE_FUNCTION Steps(const Member& team, const Work<T>& work)
      : team_(team),
        work_(work),
        rows_(work.rows),
        classes_(work.state.rule.classes),
        logits_(team.team_scratch(0), static_cast<std::size_t>(rows_ * classes_)),
        alpha_(team.team_scratch(0), static_cast<std::size_t>(rows_ * classes_)),
        residuals_(team.team_scratch(0), static_cast<std::size_t>(rows_ * classes_)),
        losses_(team.team_scratch(0), static_cast<std::size_t>(rows_)),
        biases_(team.team_scratch(0), static_cast<std::size_t>(classes_)),
        exponentials_(team.team_scratch(0), static_cast<std::size_t>(rows_ * classes_)) {}

  /// @pre the whole team calls, as for all below
  KOKKOS_FORCEINLINE_FUNCTION void begin() const {
    for_each(rows_ * classes_, [&](int i) { logits_(i) = alpha_(i) = 0; });
    for_each(classes_, [&](int c) { biases_(c) = 0; });
    team_.team_barrier();
  }
  KOKKOS_FORCEINLINE_FUNCTION void take(std::int64_t step) const {
    const Rule& rule = work_.state.rule;
    const Rows batch = rule.own_rows(step);
    const int first = static_cast<int>(batch.first), size = static_cast<int>(batch.last) - first;
    for_each(size * classes_, [&](int i) { set_exponential(first + i % size, i / size); });
    team_.team_barrier();
    for_each(size * classes_, [&](int i) { set_residual(first + i % size, i / size); });
    double squares = 0;  // |W|^2 is the sum of a times the logits
    if (rule.l2 > 0)
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team_, rows_ * classes_), [&](int i, double& sum) { sum += alpha_(i) * logits_(i); },
          squares);
    team_.team_barrier();
    const double stride = rule.learning_rate / size, keep = 1 - rule.learning_rate * rule.l2;
    const int items = rows_ * classes_;
    for_each(items + classes_ + 1, [&](int i) {
      if (i < items)
        change(i, first, size, stride, keep);
      else if (i < items + classes_)
        biases_(i - items) -= stride * sum_of(size, [&](int j) { return residuals_((i - items) * rows_ + first + j); });
      else
        work_.state.loss(step) = sum_of(size, [&](int j) { return losses_(first + j); }) / size + rule.l2 / 2 * squares;
    });
    team_.team_barrier();
  }
  KOKKOS_FORCEINLINE_FUNCTION void leave(std::int64_t steps) const {
    const int items = rows_ * classes_;
    for_each(items, [&](int i) { work_.alpha(i) = alpha_(i); });
    for_each(classes_, [&](int c) { work_.alpha(items + c) = biases_(c); });
    blocks::once_per_team(team_, [&] { work_.state.taken(0) = steps; });
  }

 private:
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(int count, const Body& body) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, count), body);
  }
  template <class Value>
  KOKKOS_FORCEINLINE_FUNCTION static double sum_of(int count, const Value& value) {
    return blocks::sum_in_order<8>(count, value);
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double logit(int row, int c) const {
    return logits_(c * rows_ + row) + biases_(c);
  }
  KOKKOS_FORCEINLINE_FUNCTION void set_exponential(int row, int c) const {
    double largest = logit(row, 0);
    for (int k = 1; k < classes_; ++k) largest = logit(row, k) > largest ? logit(row, k) : largest;
    const auto below = static_cast<float>(logit(row, c) - largest);
    exponentials_(c * rows_ + row) = blocks::exp(below);
    if (c == work_.labels(row)) losses_(row) = -static_cast<double>(below);
  }
  KOKKOS_FORCEINLINE_FUNCTION void set_residual(int row, int c) const {
    float sum = 0;
    for (int k = 0; k < classes_; ++k) sum += exponentials_(k * rows_ + row);
    const bool own = c == work_.labels(row);
    residuals_(c * rows_ + row) = static_cast<double>(exponentials_(c * rows_ + row) / sum - (own ? 1.0F : 0.0F));
    if (own) losses_(row) += static_cast<double>(blocks::log1p(sum - 1));
  }
  /// Changes the logit and the coefficient of a row and class by the residuals of the batch.
  KOKKOS_FORCEINLINE_FUNCTION void change(int i, int first, int size, double stride, double keep) const {
    const int row = i % rows_, c = i / rows_;
    const double more = sum_of(size, [&](int j) {  // K is symmetric
      return work_.gram((first + j) * rows_ + row) * residuals_(c * rows_ + first + j);
    });
    logits_(i) = keep * logits_(i) - stride * more;
    const bool in_batch = row >= first && row < first + size;
    alpha_(i) = keep * alpha_(i) - (in_batch ? stride * residuals_(i) : 0);
  }

  const Member& team_;
  const Work<T>& work_;
  int rows_, classes_;
  Scratch<double> logits_, alpha_, residuals_;  ///< [classes x rows]; logits without the biases
  Scratch<double> losses_, biases_;             ///< [rows], [classes]
  Scratch<float> exponentials_;                 ///< [classes x rows]
};

template <class T>
void take_steps(Queue& queue, const Exec& exec, int threads, std::int64_t steps, const Work<T>& work) {
  Team policy(exec, 1, threads, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(Steps<T>::bytes(work.rows, work.state.rule.classes)));
  kokkos::submit(
      queue, "softmax/dual", kokkos::light(policy), KOKKOS_LAMBDA(const Member& team) {
        const Steps<T> all(team, work);
        all.begin();
        for (std::int64_t step = 0; step < steps; ++step) all.take(step);
        all.leave(steps);
      });
}

// A lane takes a parameter at a time, the features of a class one after another.
template <class T>
void add_rows(Queue& queue, const Exec& exec, int lanes, const Work<T>& work) {
  constexpr int tile = of_parameters.tile;
  const int count = (work.state.rule.features + 1) * work.state.rule.classes;
  kokkos::submit(
      queue, "softmax/add_rows", kokkos::light(Team(exec, ceil_div(count, tile), lanes, 1)),
      KOKKOS_LAMBDA(const Member& team) {
        const Rule& rule = work.state.rule;
        const int first = static_cast<int>(team.league_rank()) * tile, left = count - first;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, left < tile ? left : tile), [&](int i) {
          const int c = (first + i) / (rule.features + 1), f = (first + i) % (rule.features + 1);
          double value = work.alpha(rule.classes * work.rows + c);
          if (f < rule.features)
            value = rule.scale * blocks::sum_in_order<8>(work.rows, [&](int row) {
                      return work.feature(row, f) * work.alpha(c * work.rows + row);
                    });
          work.state.theta(f * rule.classes + c) = value;
        });
      });
}

template <class T>
class Dual final : public Solve<T> {
  using Base = Solve<T>;

 public:
  Dual(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard, problem.pitch), rows_(static_cast<int>(problem.extent())) {
    require_alone(context);
    DualLimits::require(rows_, problem.classes);
    Base::declare(gram_, "softmax/gram", rows_ * rows_);
    Base::declare(alpha_, "softmax/alpha", (rows_ + 1) * problem.classes);
  }
  Launch configure(Launch launch) override {
    const int classes = Base::problem().classes;
    kokkos::require_scratch(Steps<T>::bytes(rows_, classes), "the logits of all rows");
    LaunchLimits most = kokkos::limits(Base::queue());
    most.team_times_vector = std::min(most.team_times_vector, DualLimits::max_threads);
    constexpr int step = 32;
    const int items = rows_ * classes + classes + 1;
    const int team = std::min({ceil_div(items, step) * step, of_steps.team, most.team_times_vector});
    launch = resolve(launch, {1, team, 1}, most);
    if (launch.league != 1 || launch.vector != 1)
      throw Unsupported("league " + std::to_string(launch.league) + ", vector length " + std::to_string(launch.vector) +
                        ": one team takes all steps, its vector length is 1");
    return launch_ = launch;
  }
  void begin() const override { multiply_rows(Base::queue(), Base::exec_, work()); }
  void accumulate() const override {
    take_steps(Base::queue(), Base::exec_, launch_.team, Base::problem().steps, work());
  }
  void update() const override { add_rows(Base::queue(), Base::exec_, Base::lanes(of_parameters), work()); }

 private:
  [[nodiscard]] Work<T> work() const {
    return {Base::state(), Base::x(), Base::labels(), gram_.view(), alpha_.view(), rows_};
  }

  int rows_;
  Launch launch_;
  kokkos::Array<double> gram_, alpha_;
};

const RegisterWholeSolve<SoftmaxRegression> dual{
    "dual", written_once<float, std::uint8_t>(kokkos::model, []<class T>(Of<T>) { return blocks::named(of_steps); }),
    by_type<Dual>};

}  // namespace
}  // namespace league::softmax_regression::kokkos_model
