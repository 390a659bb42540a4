// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithms/drivers/placement.hpp"
#include "backends/pass.hpp"

/// Variants of one pass over the rows: a kernel function, the names of its inputs and outputs, one registration line.
///
///     template <class T>
///     void add(const Pass& on, const T* a, const T* b, T* sum) { ... }
///     const OnePass<VectorAdd, float, double> plain{
///         "plain", model, {"a", "b", "sum"}, []<class T>(Of<T>) { return kernel("add", add<T>); }};
///
/// `Pass` is that of the backend (cuda::Pass, kokkos::Pass, openmp::Pass, serial::Pass): the launch of a kernel and its
/// rows. Const parameters are inputs of the problem, the others are results, split by rows.
namespace league {

/// A kernel function, and its default launch.
template <class P, class... Views>
struct Kernel {
  using Pass = P;
  const char* stage;
  void (*run)(const P&, Views...);
  Share share{};
  const char* library = nullptr;  ///< the library, if it chooses its own launch: "CUB"
};
template <class P, class... Views>
Kernel<P, Views...> kernel(const char* stage, void (*run)(const P&, Views...), Share share = {}) {
  return {stage, run, share};
}
template <class P, class... Views>
Kernel<P, Views...> library_kernel(const char* library, const char* stage, void (*run)(const P&, Views...)) {
  return {stage, run, {}, library};
}

/// The arrays of a kernel, one per view, on one device.
template <class Pass, class... Views>
using ArraysOf = std::tuple<typename Pass::template Array<typename Viewed<Views>::Value>...>;

/// A kernel on one shard, its arrays in the device's memory.
template <class K>
class KernelShard;
template <class Pass, class... Views>
class KernelShard<Kernel<Pass, Views...>> final : public IndependentShard {
 public:
  KernelShard(const Problem& problem, const Context& context, const Shard& shard, const Kernel<Pass, Views...>& kernel,
              const std::vector<std::string>& names)
      : IndependentShard(context, shard), kernel_(kernel), bindings_(bind<Views...>(problem, context, shard, names)) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (enter(std::get<i>(arrays_), bindings_[i]), ...);
    }(std::index_sequence_for<Views...>());
  }
  Launch configure(Launch launch) override { return launch_ = resolve_pass(kernel_, queue(), launch, rows().size()); }
  void compute(Stages& stages) override {
    const auto stage = stages.scope(queue(), kernel_.stage);
    std::apply([&](auto&... arrays) { kernel_.run(Pass(runtime(), queue(), launch_, rows()), view<Views>(arrays)...); },
               arrays_);
  }

 private:
  template <class Array>
  void enter(Array& array, const Binding& binding) {
    declare(array, binding.name, binding.size);
    if (binding.input)
      input(array, binding.template values<typename Array::value_type>());
    else
      output(array, binding.index);
  }
  Kernel<Pass, Views...> kernel_;
  std::vector<Binding> bindings_;
  Launch launch_;
  ArraysOf<Pass, Views...> arrays_;
};

template <class Pass, class... Views>
std::unique_ptr<Prepared> prepare(const Problem& problem, const Context& context, Placement placement,
                                  const Kernel<Pass, Views...>& kernel, const std::vector<std::string>& names) {
  Pass::require(placement);
  return split(context, [&](const Shard& shard) -> std::unique_ptr<IndependentShard> {
    if (placement == Placement::device)
      return std::make_unique<KernelShard<Kernel<Pass, Views...>>>(problem, context, shard, kernel, names);
    return place_elsewhere(problem, context, shard, placement, kernel, names);
  });
}

/// Registers a kernel for the types `Ts`: `make(Of<T>())`, or `make(Of<T>(), problem)` where a parameter chooses it,
/// gives the kernel, `names` are those of its arrays.
template <class P, class... Ts>
struct OnePass {
  template <class Make>
  OnePass(std::string method, WrittenModel model, std::vector<std::string> names, Make make) {
    Register<P>(std::move(method), std::move(model),
                [names = std::move(names), make](const P& problem, const Context& context) {
                  Placement placement = Placement::device;
                  if constexpr (requires { problem.placement; }) placement = problem.placement;
                  return with_type<Ts...>(problem.dtype, [&]<class T>() -> std::unique_ptr<Prepared> {
                    if constexpr (requires { make(Of<T>(), problem); })
                      return prepare(problem, context, placement, make(Of<T>(), problem), names);
                    else
                      return prepare(problem, context, placement, make(Of<T>()), names);
                  });
                });
  }
  /// For one type.
  template <class Pass, class... Views>
  OnePass(std::string method, WrittenModel model, std::vector<std::string> names, Kernel<Pass, Views...> kernel) {
    Register<P>(std::move(method), std::move(model),
                [names = std::move(names), kernel](const P& problem, const Context& context) {
                  return prepare(problem, context, Placement::device, kernel, names);
                });
  }
};

}  // namespace league
