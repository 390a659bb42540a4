// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/cnn/shard.hpp"
#include "backends/host_memory.hpp"
#include "backends/serial/serial.hpp"
#include "tests/algorithms/cnn.hpp"
#include "tests/algorithms/simulated_unit.hpp"

/// The kernels of GPUs in whole trainings, their teams simulated by fibers.
namespace league::cnn::tests {

/// A launch runs one team, which takes the place of all others in turn. `Unit`: the kernels' matrix unit, if any.
template <class Unit>
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
    static_assert(Kernel::threads % Unit::lanes == 0);
    queue_.submit([body] {
      std::vector<Four> scratch(Kernel::scratch_bytes / sizeof(Four) + 1, Four{{NAN, NAN, NAN, NAN}});
      league::tests::run_team<Unit>(Kernel::threads / Unit::lanes, [&](const league::tests::SimulatedTeam& group) {
        body(group, scratch.front().values);
      });
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
  [[nodiscard]] std::uint64_t digest(std::int64_t at, std::int64_t count) const {
    return league::digest(std::as_bytes(std::span(data() + at, static_cast<std::size_t>(count))));
  }

 private:
  mutable std::vector<T> values_;
};
template <class Unit = blocks::mma::Scalar<blocks::mma::Element::f32>>
struct Gpu {
  template <class T>
  using Array = Memory<T>;
  Gpu(Runtime&, Queue& of) : queue(of) {}
  [[nodiscard]] cnn::tests::Launcher<Unit> launcher() const { return cnn::tests::Launcher<Unit>(queue); }
  Queue& queue;
};

/// A training by shards of type `P`.
template <class P>
Solved solved_by(const Cnn& problem, const Launch& launch, int devices) {
  const auto make = [](const Problem& that, const Context& context) {
    const auto& of = static_cast<const Cnn&>(that);
    return train(context, schedule_of(of), [&](const Shard& shard) { return std::make_unique<P>(of, context, shard); });
  };
  const Variant variant{.algorithm = Cnn::algorithm, .method = "direct", .model = serial::model, .prepare = make};
  return Solved(variant, problem, {.devices = devices, .launch = launch});
}
template <class P>
void expect_right(const Cnn& problem, const Launch& launch, int devices) {
  const Solved run = solved_by<P>(problem, launch, devices);
  const Verdict verdict = problem.check_alone(run.results);
  EXPECT_TRUE(verdict.passed()) << verdict.message;
}

}  // namespace league::cnn::tests
