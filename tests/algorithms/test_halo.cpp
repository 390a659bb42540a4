// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <array>

#include "algorithms/contract/partition.hpp"
#include "algorithms/drivers/halo.hpp"
#include "backends/host_array.hpp"
#include "tests/runtime.hpp"

// The production driver with planes of one integer: a step adds the plane below and three times the plane above.
namespace league {
namespace {

constexpr std::int64_t count = 7;

std::vector<std::int64_t> expected(std::int64_t steps) {
  std::vector<std::int64_t> here(count);
  for (std::size_t i = 0; i < count; ++i) here[i] = static_cast<std::int64_t>(i) + 1;
  for (std::int64_t s = 0; s < steps; ++s) {
    std::vector<std::int64_t> there(count);
    for (std::size_t i = 0; i < count; ++i)
      there[i] = (here[i] + (i > 0 ? here[i - 1] : 0) + 3 * (i + 1 < count ? here[i + 1] : 0)) % 1'000'003;
    here = there;
  }
  return here;
}

class Fake final : public HaloShard {
 public:
  Fake(const Context& context, const Shard& shard, std::int64_t steps, std::span<const std::int64_t> initial)
      : HaloShard(context, shard) {
    for (auto& grid : grids_) declare(grid, "values", rows().size() + 2);
    input(grids_[0], initial.subspan(static_cast<std::size_t>(rows().begin), static_cast<std::size_t>(rows().size())),
          1);
    output(grids_[static_cast<std::size_t>(written_by(steps - 1))], 0, 1);
  }
  Launch configure(Launch) override { return {1, 1, 1}; }
  [[nodiscard]] Planes planes(int buffer) const override {
    return {reinterpret_cast<std::byte*>(grids_[static_cast<std::size_t>(buffer)].data() + 1), sizeof(std::int64_t)};
  }
  void advance(int from, int to, Range planes) const override {
    const std::int64_t begin = rows().begin - 1;
    queue().submit([here = grids_[static_cast<std::size_t>(from)].data() - begin,
                    there = grids_[static_cast<std::size_t>(to)].data() - begin, planes] {
      for (std::int64_t i = planes.begin; i < planes.end; ++i)
        there[i] = (here[i] + (i > 0 ? here[i - 1] : 0) + 3 * (i + 1 < count ? here[i + 1] : 0)) % 1'000'003;
    });
  }

 private:
  std::array<host::Array<std::int64_t>, buffers> grids_;
};

TEST(Halo, TakesEveryStepOnceInEveryExecution) {
  Runtime& runtime = tests::runtime();
  const std::vector<std::int64_t> initial = expected(0);
  for (const std::int64_t steps : {1, 2, 3, 100, 101, 102, 201, 250})
    for (const int devices : {1, 2, 3, 7, 9})
      for (const Execution execution : {Execution::stream, Execution::graph}) {
        SCOPED_TRACE(std::to_string(steps) + " steps on " + std::to_string(devices) + " " +
                     std::string(name(execution)));
        const Partition world = partition(count, devices);
        const std::vector<Shard> shards = local_shards(world, runtime.devices(DeviceKind::host, devices));
        const auto communicator = make_communicator(runtime, shards, world);
        Outputs outputs{{"values", HostArray(runtime.host_memory(), Dtype::i64, {count}), {0, count}}};
        const Context context{runtime, shards, world, *communicator, outputs, 1 << 20, execution};
        const auto prepared = solve_with_halo(
            context, steps, [&](const Shard& shard) { return std::make_unique<Fake>(context, shard, steps, initial); });
        prepared->configure({});
        prepared->upload();
        for (int again = 0; again < 2; ++again) {
          Stages stages;
          prepared->reset();
          prepared->compute(stages);
          prepared->download();
          prepared->fence();
          const auto values = outputs[0].values.values<std::int64_t>();
          EXPECT_EQ(std::vector(values.begin(), values.end()), expected(steps));
        }
      }
}

}  // namespace
}  // namespace league
