// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include "algorithms/contract/with_type.hpp"
#include "bench/data/dataset.hpp"
#include "bench/json.hpp"
#include "bench/measure/comparison.hpp"
#include "tests/algorithms/edge_case.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

// How far the check lets the value in the middle of each result go, on every small problem: not further than
// tests/data/bounds.json says. A new algorithm, or a bound that was derived anew, is written into that file by
// LEAGUE_BOUNDS=write build/openmp/league_tests --gtest_filter='*Bounds*', and its change is there to be reviewed.
namespace league::tests {
namespace {

using bench::Json;
constexpr const char* file = "tests/data/bounds.json";

Json& written() {
  static Json all = bench::read_json(file).value_or(Json::object());
  return all;
}
bool writes() { return std::getenv("LEAGUE_BOUNDS") != nullptr; }

/// The smallest change of a value that the check finds, to within a twentieth; `max` if it lets all pass.
template <class T>
double min_found(const Problem& problem, const Outputs& results, T& value, double sign, double max) {
  const T right = value;
  double low = max * 0x1p-70, high = max;
  while (high > 1.05 * low) {
    const double change = std::sqrt(low * high);
    value = static_cast<T>(static_cast<double>(right) + sign * change);
    (problem.check_alone(results).passed() ? low : high) = change;
  }
  value = right;
  return high;
}

/// The bound of the value in the middle: with an error e, it may grow by bound - e, and shrink by bound + e. 0: it is
/// exact, or may not change at all; nothing: the check lets it go as far as the largest value.
template <class T>
std::optional<double> bound_of(const Problem& problem, const Outputs& results, std::span<T> values) {
  T& value = values[values.size() / 2];
  double max = 1;
  for (const T one : values) max = std::max(max, 10 * std::abs(static_cast<double>(one)));
  const double up = min_found(problem, results, value, 1, max), down = min_found(problem, results, value, -1, max);
  if (up == max || down == max) return {};
  return std::max(up, down) < max * 0x1p-60 ? 0 : (up + down) / 2;
}

/// Whether the check finds that a whole number in the middle is one less or one more.
template <class T>
bool is_exact(const Problem& problem, const Outputs& results, std::span<T> values) {
  T& value = values[values.size() / 2];
  const T right = value;
  value = static_cast<T>(value > 0 ? value - 1 : value + 1);
  const bool found = !problem.check_alone(results).passed();
  value = right;
  return found;
}

class Bounds : public ::testing::TestWithParam<std::string> {
 protected:
  /// The bound, once for every problem, type, small problem and result.
  static void judge(const std::string& name, const std::optional<double>& bound) {
    if (writes()) {
      written()[name] = bound ? Json(*bound) : Json();
      return;
    }
    ASSERT_TRUE(written().contains(name)) << file << " has no " << name;
    const Json& wanted = written()[name];
    ASSERT_EQ(bound.has_value(), !wanted.is_null()) << name;
    if (!bound) return;
    EXPECT_LE(*bound, 2 * wanted.get<double>()) << name << ": the check lets more pass than it did";
    EXPECT_GE(*bound, wanted.get<double>() / 2) << name << ": the check lets less pass than it did";
  }
};

TEST_P(Bounds, AreWhatTheyWere) {
  const Algorithm& algorithm = *registry().algorithm(GetParam());
  bench::Datasets datasets({}, runtime().host_memory());
  std::set<std::string> judged, results;  // where checks are expensive, each result is judged in one problem only
  for (const Variant* variant : variants(algorithm.name)) {
    const auto method = std::ranges::find(algorithm.methods, variant->method, &Method::name);
    if (method == algorithm.methods.end() || variant->model.device != DeviceKind::host) continue;
    for (const Dtype dtype : method->dtypes)
      for (std::size_t number = 0; number < algorithm.edge_cases.size(); ++number) {
        const std::string name = algorithm.name + "/" + (method->problem.empty() ? "" : method->problem + "/") +
                                 std::string(league::name(dtype)) + "/" + std::to_string(number);
        bench::Case that = edge_case(algorithm, *method, dtype, algorithm.edge_cases[number]);
        that.devices = algorithm.between_shards ? 2 : 1;
        if (!judged.insert(name).second) continue;
        const std::unique_ptr<Problem> problem = bench::make_problem(that, runtime(), datasets);
        try {
          Solved solved(*variant, *problem, {.devices = that.devices});
          const Verdict right = problem->check_alone(solved.results);
          ASSERT_TRUE(right.passed()) << name << ": " << right.message;
          const bool is_expensive = problem->cost().operations > 1e6;
          for (Output& output : solved.results) {
            const std::string result = method->problem + "/" + std::string(league::name(dtype)) + "/" + output.name;
            if (output.values.size() == 0 || (!results.insert(result).second && is_expensive)) continue;
            with_type<float, double, std::int32_t, std::int64_t, std::uint8_t>(output.values.dtype(), [&]<class T>() {
              const std::span<T> values = output.values.values<T>();
              if constexpr (std::is_integral_v<T>)
                judge(name + "/" + output.name,
                      is_exact<T>(*problem, solved.results, values) ? std::optional(0.0) : std::nullopt);
              else
                judge(name + "/" + output.name, bound_of<T>(*problem, solved.results, values));
            });
          }
        } catch (const Unsupported&) {
          judged.erase(name);  // by another variant
        }
      }
  }
  EXPECT_FALSE(judged.empty());
  if (writes()) std::ofstream(file) << bench::text_of(written(), 1) << "\n";
}

std::vector<std::string> algorithms() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : registry().algorithms) names.push_back(algorithm.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, Bounds, ::testing::ValuesIn(algorithms()), [](const auto& one) { return one.param; });

}  // namespace
}  // namespace league::tests
