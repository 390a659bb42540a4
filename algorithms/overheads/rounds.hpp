// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/drivers/variant_shard.hpp"
#include "algorithms/overheads/overheads.hpp"
#include "backends/launch.hpp"
#include "backends/portable.hpp"

namespace league::overheads {

/// One variant on the teams of one shard: `count` [teams].
class RoundShard : public VariantShard {
 public:
  using VariantShard::VariantShard;
  /// One repeat, on the queue; all of them, where one kernel repeats.
  virtual void take() = 0;
  /// After the last repeat.
  virtual void finish() {}

 protected:
  /// One team per row; the rest by `defaults` where it is left open. @throws Unsupported for another league size
  [[nodiscard]] Launch resolved(Launch launch, Launch defaults, const LaunchLimits& bounds) const {
    if (launch.league > 0 && launch.league != rows().size())
      throw Unsupported("league " + std::to_string(launch.league) + ": `teams` gives this device " +
                        std::to_string(rows().size()));
    defaults.league = static_cast<int>(rows().size());
    return resolve(launch, defaults, bounds);
  }
};

/// Who repeats: the host; the host, with a fence after each repeat; one kernel.
enum class Loop { host, fenced, kernel };

enum class Clock { host, device };

using MakeShard = std::function<std::unique_ptr<RoundShard>(const Shard&)>;
std::unique_ptr<Prepared> rounds(const Overheads& problem, const Context& context, Loop loop, Clock clock,
                                 const MakeShard& make);

/// Registers `P` (problem, context, shard).
template <class P>
struct RegisterRounds {
  RegisterRounds(std::string method, WrittenModel model, Loop loop, Clock clock,
                 std::vector<Execution> executions = {Execution::stream}) {
    Register<Overheads>(
        std::move(method), std::move(model),
        [loop, clock](const Overheads& problem, const Context& context) {
          return rounds(problem, context, loop, clock, [&](const Shard& shard) -> std::unique_ptr<RoundShard> {
            return std::make_unique<P>(problem, context, shard);
          });
        },
        std::move(executions));
  }
};

/// For each type that a sum has: `P<float>` and `P<double>`.
template <template <class> class P>
struct RegisterSums {
  RegisterSums(std::string method, WrittenModel model) {
    Register<Overheads>(std::move(method), std::move(model), [](const Overheads& problem, const Context& context) {
      return with_type<float, double>(problem.dtype, [&]<class T>() {
        return rounds(problem, context, Loop::kernel, Clock::device, [&](const Shard& shard) {
          return std::unique_ptr<RoundShard>(std::make_unique<P<T>>(problem, context, shard));
        });
      });
    });
  }
};

/// The count of a team after one more repeat of `repeats`: it starts from poison (NaN), or again after a whole compute.
LEAGUE_FUNCTION double next_count(double count, int repeats) { return count < repeats ? count + 1 : 1; }

/// What a lane adds in round `round`, so that the team's sum grows by one: the lanes take turns in adding the last sum.
template <class T>
LEAGUE_FUNCTION T share_of(int lane, int lanes, int round, T sum) {
  return lane == round % lanes ? sum + 1 : T{0};
}

}  // namespace league::overheads
