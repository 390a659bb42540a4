// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/check.hpp"
#include "bench/measure/measure.hpp"
#include "tests/algorithms/cnn.hpp"

// Training images in host memory, each batch loaded ahead of its step.
namespace league::cnn::tests {
namespace {

Values on_host(Values values) {
  values["input"] = "host";
  return values;
}
/// Models whose sums over images are in the same order each time; one method on matrix units, since hosts simulate
/// them.
bool is_compared(const Variant& variant) {
  const bool on_units = variant.method.starts_with("tensor");
  return variant.model.name != "cudnn" && (!on_units || variant.method == "tensor_bf16");
}

/// The bits of all outputs.
std::vector<std::vector<std::byte>> bits_of(Outputs& outputs) {
  std::vector<std::vector<std::byte>> all;
  for (const Output& output : outputs) all.emplace_back(output.values.bytes().begin(), output.values.bytes().end());
  return all;
}

/// By all variants, on one to three devices, twice.
void expect_same_bits(const Dataset& data, const Values& values) {
  const auto expected = make(data, values), from_host = make(data, on_host(values));
  int ran = 0;
  for (const Variant* variant : league::tests::variants<Cnn>(is_compared))
    for (const int devices : {1, 2, 3}) {
      if (!has_devices(*variant, devices)) continue;
      SCOPED_TRACE(name_of(*variant) + " devices " + std::to_string(devices));
      try {
        Solved device(*variant, *expected, {.devices = devices}), host(*variant, *from_host, {.devices = devices});
        EXPECT_EQ(bits_of(host.results), bits_of(device.results));
        host.again();
        EXPECT_EQ(bits_of(host.results), bits_of(device.results)) << "the second time";
        ++ran;
      } catch (const Unsupported& refused) {
        EXPECT_STRNE(refused.what(), "");
      }
    }
  EXPECT_GT(ran, 9);
}

TEST(CnnInput, EpochsWithASmallerLastBatch) { expect_same_bits(generated(5, 3), {{"epochs", "2"}, {"batch", "3"}}); }
TEST(CnnInput, StepsAfterOthersWithAShardedOptimizer) {
  expect_same_bits(generated(4), {{"steps", "2"},
                                  {"warm_up", "1"},
                                  {"batch", "4"},
                                  {"shuffle", "off"},
                                  {"workers", "1"},
                                  {"shard_optimizer", "on"}});
}
TEST(CnnInput, OneImage) { expect_same_bits(generated(1, 2), {{"epochs", "2"}, {"batch", "1"}}); }
TEST(CnnInput, InColour) {
  expect_same_bits(generated(4, 2, cifar10.pixels()), {{"network", "cifar10"},
                                                       {"epochs", "2"},
                                                       {"batch", "3"},
                                                       {"workers", "5"},
                                                       {"optimizer", "adam"},
                                                       {"learning_rate", "0.01"}});
}

class InTurn final : public Stages {
 public:
  [[nodiscard]] bool traced() const override { return true; }
};

TEST(CnnInput, SeveralComputesBeforeAFence) {
  const Values values{{"steps", "5"}, {"batch", "3"}};
  const auto expected = make(generated(7), values), from_host = make(generated(7), on_host(values));
  Stages overlapped;
  InTurn in_turn;
  for (const int devices : {1, 2}) {
    Solved device(reference(), *expected, {.devices = devices}), host(reference(), *from_host, {.devices = devices});
    for (const std::vector<Stages*>& passes :
         {std::vector<Stages*>{&overlapped, &overlapped, &overlapped}, {&in_turn}, {&overlapped, &in_turn}}) {
      host.prepared->reset();
      for (Stages* stages : passes) host.prepared->compute(*stages);
      host.prepared->download();
      host.prepared->fence();
      EXPECT_EQ(bits_of(host.results), bits_of(device.results)) << devices << " devices";
    }
  }
}

TEST(CnnInput, AGraphIsRefused) {
  const auto problem = make(generated(3), on_host({{"steps", "1"}}));
  for (const Variant* variant : league::tests::variants<Cnn>())
    for (const Execution execution : variant->executions) {
      if (execution == Execution::stream) continue;
      try {
        Solved run(*variant, *problem, {.execution = execution});
        ADD_FAILURE() << name_of(*variant);
      } catch (const Unsupported& refused) {
        const std::string reason = refused.what();
        EXPECT_TRUE(reason.ends_with("take execution = stream") || reason.starts_with("network")) << reason;
      }
    }
}

TEST(CnnInput, AStageOfItsOwn) {
  const Dataset data = generated(7);
  const auto problem = make(data, on_host({{"steps", "5"}, {"batch", "3"}}));
  const Algorithm& algorithm = *registry().algorithm(Cnn::algorithm);
  for (const int devices : {1, 2}) {
    bench::Case that{.algorithm = &algorithm, .method = &algorithm.methods.front(), .model = "serial"};
    that.devices = devices;
    bench::PreparedCase prepared_case(that, *problem, league::tests::runtime(), std::int64_t{1} << 30);
    bench::Trace first;
    const bench::Checked checked = bench::check_traced(prepared_case, first);
    EXPECT_TRUE(checked.verdict.passed()) << checked.verdict.message;
    const bench::Trace trace = bench::Meter(prepared_case, checked.compute_s).trace();
    EXPECT_GT(trace.stages.at("input"), 0);
    const auto inputs = [](const bench::Trace& of, int queue) {
      return std::ranges::count_if(of.timeline,
                                   [queue](const bench::Event& e) { return e.stage == "input" && e.queue == queue; });
    };
    for (const bench::Trace& of : {first, trace}) {
      EXPECT_EQ(inputs(of, 0), 0);
      EXPECT_EQ(inputs(of, 1), 5 * devices) << "beside the kernels";
    }
  }
}

}  // namespace
}  // namespace league::cnn::tests
