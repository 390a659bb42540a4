// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/array.hpp"
#include "backends/backend.hpp"
#include "backends/pass.hpp"

/// How the code of a portable variant is written: what its registration tells, and `league list` and records say.
namespace league {

enum class Bodies {
  one,      ///< one body for every kind of device
  numbers,  ///< one body, with positive integers that differ by kind of device
  several,  ///< bodies for kinds of devices or architectures
};
/// "one", "numbers", "several".
std::string_view name(Bodies bodies);

/// Integers by name, in the order of the kernel: {{"rows", 8}, {"width", 4}}.
using NamedNumbers = std::vector<std::pair<std::string, int>>;

struct Writing {
  Bodies bodies = Bodies::several;
  /// Its device code is also that of a native variant, beyond pure functions of values; empty: not told.
  std::optional<bool> shared{};
  /// By type, the numbers of the kind of device that this executable has; for `Bodies::numbers` only.
  std::map<Dtype, NamedNumbers> numbers{};
};

inline constexpr std::size_t max_numbers = 8;

/// @throws std::invalid_argument naming `variant` ("knn/fused/kokkos"), and the type and the number that is wrong:
/// bodies `numbers` have for each type one to `max_numbers` positive numbers of different names, others have none
void require_valid(const Writing& writing, const std::string& variant);

/// A model as registrations take it: of native models and libraries the model alone, of portable ones also how the
/// code is written.
struct WrittenModel {
  // NOLINTNEXTLINE(google-explicit-constructor): a registration that tells nothing else names its model
  WrittenModel(Model which, Writing how = {}) : model(which), writing(std::move(how)) {}
  Model model;
  Writing writing;
};

/// One body for every kind of device: `{"flat", written_once(model), ...}`.
inline WrittenModel written_once(Model model) { return {model, {.bodies = Bodies::one, .shared = false}}; }

/// One body with numbers, for the types `Ts`: `written_once<float, double>(model, []<class T>(Of<T>) {
/// return NamedNumbers{{"rows", here<T>.rows}, {"team", here<T>.team}}; })`.
template <class... Ts, class NumbersOf>
WrittenModel written_once(Model model, const NumbersOf& numbers_of) {
  return {model, {.bodies = Bodies::numbers, .shared = false, .numbers = {{dtype_of<Ts>, numbers_of(Of<Ts>())}...}}};
}

/// Bodies for kinds of devices or architectures; `shared`: the device code is that of a native variant, so that its
/// time over native's is what launching through Kokkos costs.
inline WrittenModel several_bodies(Model model, bool shared) {
  return {model, {.bodies = Bodies::several, .shared = shared}};
}

}  // namespace league
