// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ucontext.h>

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/cnn/gpu_layers_part.hpp"
#include "backends/serial/serial.hpp"
#include "tests/algorithms/cnn.hpp"

// The kernels of GPUs in whole trainings, their teams simulated on one thread.
namespace league::cnn::tests {
namespace {

/// The threads of a team in turn, each until its next barrier.
class Team {
 public:
  using Barrier = std::function<void()>;
  using Body = std::function<void(const blocks::Group<Barrier>&)>;
  Team(int size, const Body& body)
      : stacks_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(size) * stack_bytes)),
        threads_(of(size)) {
    const Barrier barrier = [this] { swapcontext(&threads_[running_], &main_); };
    for (int rank = 0; rank < size; ++rank) work_.push_back([&, rank] { body(blocks::group_of(rank, size, barrier)); });
    for (std::size_t rank = 0; rank < threads_.size(); ++rank) start(rank);
    for (std::size_t left = threads_.size(); left > 0;)
      for (running_ = 0; running_ < threads_.size(); ++running_) {
        if (!work_[running_]) continue;
        swapcontext(&main_, &threads_[running_]);
        left -= work_[running_] ? 0 : 1;
      }
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;
  static std::vector<ucontext_t> of(int size) { return std::vector<ucontext_t>(static_cast<std::size_t>(size)); }
  void start(std::size_t rank) {
    ucontext_t& thread = threads_[rank];
    getcontext(&thread);
    thread.uc_stack.ss_sp = stacks_.get() + rank * stack_bytes;
    thread.uc_stack.ss_size = stack_bytes;
    thread.uc_link = &main_;
    const auto bits = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&thread, reinterpret_cast<void (*)()>(&enter), 2, static_cast<unsigned>(bits >> 32),
                static_cast<unsigned>(bits));
  }
  static void enter(unsigned high, unsigned low) {
    auto* team = reinterpret_cast<Team*>(std::uintptr_t{high} << 32 | low);
    team->work_[team->running_]();
    team->work_[team->running_] = nullptr;
  }
  std::unique_ptr<std::byte[]> stacks_;  // not initialised: most of it is never touched
  std::vector<ucontext_t> threads_;
  std::vector<std::function<void()>> work_;
  ucontext_t main_{};
  std::size_t running_ = 0;
};

/// A launch runs one team, which takes the place of all others in turn.
class Launcher {
 public:
  explicit Launcher(Queue& queue) : queue_(queue) {}
  template <class Kernel, class S, class M, class T>
  void items(int teams, const S& s, const M& memory, const T& given, int items) const {
    submit<Kernel>([=](const auto& group, float* scratch) {
      const T take = given.trains ? s.now() : given;
      for (int team = 0; team < teams; ++team)
        for (int item = team; item < items; item += teams) Kernel::run(group, s, memory, take, item, scratch);
    });
  }
  template <class Kernel, class S, class M>
  void teams(int teams, const S& s, const M& memory) const {
    submit<Kernel>([=](const auto& group, float* scratch) {
      for (int team = 0; team < teams; ++team) {
        group.barrier();  // teams have scratch of their own
        Kernel::run(group, s, memory, s.now(), team, teams, scratch);
      }
    });
  }
  template <class Body>
  void elements(int count, const Body& body) const {
    queue_.submit([=] {
      for (int at = 0; at < count; ++at) body(at);
    });
  }

 private:
  template <class Kernel, class Body>
  void submit(const Body& body) const {
    queue_.submit([body] {
      std::vector<Four> scratch(Kernel::scratch_bytes / sizeof(Four) + 1, Four{{NAN, NAN, NAN, NAN}});
      const Team team(Kernel::threads, [&](const auto& group) { body(group, scratch.front().values); });
    });
  }
  Queue& queue_;
};
/// An array of any type.
template <class T>
class Memory {
 public:
  using value_type = T;
  static Memory make(Runtime&, Queue&, const std::string& /*label*/, std::int64_t size) {
    Memory made;
    made.values_.resize(static_cast<std::size_t>(size));
    return made;
  }
  [[nodiscard]] T* data() const { return values_.data(); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
  void copy_from(std::span<const T> host, std::int64_t at = 0) { std::ranges::copy(host, data() + at); }
  void copy_to(std::span<T> host, std::int64_t at = 0) const { std::copy_n(data() + at, host.size(), host.begin()); }
  void clear() { std::memset(data(), 0, values_.size() * sizeof(T)); }
  void poison() { std::memset(data(), 0xff, values_.size() * sizeof(T)); }

 private:
  mutable std::vector<T> values_;
};
struct Gpu {
  template <class T>
  using Array = Memory<T>;
  Gpu(const Context&, Queue& of) : queue(of) {}
  [[nodiscard]] Launcher launcher() const { return Launcher(queue); }
  Queue& queue;
};

template <class P>
void expect_right(const Cnn& problem, const Launch& launch, int devices) {
  const auto make = [](const Problem& that, const Context& context) {
    const auto& of = static_cast<const Cnn&>(that);
    return train(context, schedule_of(of), [&](const Shard& shard) { return std::make_unique<P>(of, context, shard); });
  };
  const Variant variant{.algorithm = Cnn::algorithm, .method = "direct", .model = serial::model, .prepare = make};
  const Solved run(variant, problem, {.devices = devices, .launch = launch});
  const Verdict verdict = problem.check_alone(run.results);
  EXPECT_TRUE(verdict.passed()) << verdict.message;
}

TEST(CnnTeams, TrainInColour) {
  const auto problem =
      make(generated(5, 3, cifar10.pixels()),
           {{"network", "cifar10"}, {"optimizer", "adam"}, {"learning_rate", "0.001"}, {"batch", "4"}});
  expect_right<GpuLayersPart<Gpu, Cifar10>>(*problem, {}, 1);
  expect_right<GpuLayersPart<Gpu, Cifar10>>(*problem, {.league = 7}, 2);
}
TEST(CnnTeams, TrainOnDigits) {
  const auto problem = make(generated(3), {{"steps", "1"}, {"batch", "2"}});
  expect_right<GpuPart<Gpu, FloatMethod<DirectBackward>>>(*problem, {}, 1);
  expect_right<GpuPart<Gpu, FloatMethod<RoutedBackward>>>(*problem, {.league = 3}, 1);
}

}  // namespace
}  // namespace league::cnn::tests
