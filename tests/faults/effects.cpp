// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <cstdlib>

#include "backends/backend.hpp"
#include "tests/faults/faults.hpp"

// Effects of a known size (tests/verdicts): with LEAGUE_EFFECTS set, each method stands there again under other names.
// A compute of "wide_null" and of "wide_null_again" is a hundred computes of "wide", of "wide_1_more" a hundred and
// one: so it takes a hundredth longer on any device, by work that is really done. All are timed as a hundred repeats:
// the time is that of "wide", which also decides whether it is sampled at several placements.
namespace league::faults {
namespace {

constexpr int computes = 100;

struct Effect {
  const char* suffix;
  int more;
};
constexpr std::array effects{Effect{"_null", 0},   Effect{"_null_again", 0}, Effect{"_1_more", 1},
                             Effect{"_2_more", 2}, Effect{"_3_more", 3},     Effect{"_5_more", 5}};

class Repeated final : public Broken {
 public:
  Repeated(std::unique_ptr<Prepared> real, int count) : Broken(std::move(real)), count_(count) {}
  Launch configure(Launch launch) override {
    const Launch effective = Broken::configure(launch);
    if (timing().reset_each) throw Unsupported("each compute needs a reset, whose time would not be in the effect");
    return effective;
  }
  [[nodiscard]] Timing timing() const override {
    Timing timing = Broken::timing();
    timing.repeats *= computes;
    return timing;
  }
  void compute(Stages&) override {
    Stages untraced;  // else a record has hundreds of stages
    for (int i = 0; i < count_; ++i) Broken::compute(untraced);
  }

 private:
  int count_;
};

Variant with_effect(const Variant& real, const Effect& effect) {
  Variant variant = real;
  variant.method += effect.suffix;
  variant.executions = {Execution::stream};
  variant.prepare = [prepare = real.prepare, count = computes + effect.more](const Problem& problem,
                                                                             const Context& context) {
    return std::make_unique<Repeated>(prepare(problem, context), count);
  };
  return variant;
}

void add_effects() {
  for (Algorithm& algorithm : registry().algorithms) {
    const std::vector<Method> real = algorithm.methods;
    for (const Method& method : real)
      for (const Effect& effect : effects) {
        algorithm.methods.push_back(method);
        algorithm.methods.back().name += effect.suffix;
      }
  }
  const std::vector<Variant> real = registry().variants;
  for (const Variant& variant : real)
    for (const Effect& effect : effects) registry().variants.push_back(with_effect(variant, effect));
}

const RegisterBackend added{"effects", 98, [](const Runtime&) -> std::unique_ptr<Backend> {
                              if (std::getenv("LEAGUE_EFFECTS") != nullptr) add_effects();
                              return std::make_unique<Backend>();
                            }};

}  // namespace
}  // namespace league::faults
