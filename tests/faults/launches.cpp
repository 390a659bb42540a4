// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/faults/faults.hpp"

namespace league::faults {
namespace {

constexpr int default_league = 3, first_right_league = 16;

/// The real variant behind a launch of its own: the automatic league takes a tenth of a second, 16 and more a
/// thousandth; odd ones are refused; the others are the fastest, and wrong.
class Tunable final : public Prepared {
 public:
  explicit Tunable(std::unique_ptr<Prepared> real) : real_(std::move(real)) {}

  Launch configure(Launch launch) override {
    if (launch.league % 2 != 0) throw Unsupported("league " + std::to_string(launch.league) + ": takes even ones");
    league_ = launch.league == 0 ? default_league : launch.league;
    real_->configure({});
    return {league_, 1, 1};
  }
  void upload() override { real_->upload(); }
  void reset() override { real_->reset(); }
  void compute(Stages& stages) override {
    using std::chrono::milliseconds;
    if (league_ == default_league) std::this_thread::sleep_for(milliseconds(100));
    if (league_ >= first_right_league) std::this_thread::sleep_for(milliseconds(1));
    if (is_right()) real_->compute(stages);
  }
  void download() override { real_->download(); }
  void fence() override { real_->fence(); }

 private:
  [[nodiscard]] bool is_right() const { return league_ == default_league || league_ >= first_right_league; }
  std::unique_ptr<Prepared> real_;
  int league_ = default_league;
};

}  // namespace

void plant_launches() {
  Registry& all = registry();
  const auto algorithm = std::ranges::find(all.algorithms, "vector_add", &Algorithm::name);
  if (algorithm == all.algorithms.end()) return;
  Method method = *std::ranges::find(algorithm->methods, "plain", &Method::name);
  method.name = "tunable";
  algorithm->methods.push_back(method);
  for (const char* model : {"serial", "openmp"})
    if (const Variant* real = all.variant("vector_add", "plain", model)) {
      {
        const Variant copy = *real;
        Variant tunable = copy;
        tunable.method = "tunable";
        tunable.prepare = [copy](const Problem& problem, const Context& context) {
          return std::make_unique<Tunable>(copy.prepare(problem, context));
        };
        all.variants.push_back(std::move(tunable));
      }
    }
}

}  // namespace league::faults
