// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/algorithms/cnn.hpp"

// Training on several devices: gradients added beside the backward pass, and the sharded optimizer.
namespace league::cnn::tests {
namespace {

constexpr Cnn::Output replicated[] = {Cnn::loss,           Cnn::weights,      Cnn::state,
                                      Cnn::weights_before, Cnn::state_before, Cnn::gradient};

/// Models whose sums over images are in the same order each time.
bool is_ordered(const Variant& variant) { return variant.model.name != "cudnn"; }

TEST(CnnSharded, AnOptimizerOnPiecesGivesTheSameBits) {
  const Dataset mnist = generated(5, 3), colour = generated(4, 2, cifar10.pixels());
  for (const char* optimizer : {"adadelta", "sgd", "adam"})
    for (const Dataset* data : {&mnist, &colour}) {
      Values values{{"steps", "3"}, {"batch", "4"}, {"optimizer", optimizer}, {"learning_rate", "0.01"}};
      values["network"] = data == &mnist ? "mnist" : "cifar10";
      const auto whole = make(*data, values);
      values["shard_optimizer"] = "on";
      const auto sharded = make(*data, values);
      int ran = 0;
      for (const Variant* variant : league::tests::variants<Cnn>(is_ordered))
        for (const Execution execution : variant->executions)
          for (const int devices : {1, 2, 3}) {
            if (!has_devices(*variant, devices)) continue;
            SCOPED_TRACE(name_of(*variant) + " " + std::string(name(execution)) + " devices " +
                         std::to_string(devices) + " " + optimizer);
            try {
              Solved expected(*variant, *whole, {.devices = devices, .execution = execution});
              Solved found(*variant, *sharded, {.devices = devices, .execution = execution});
              for (int again = 0; again < 2; ++again) {
                for (const Cnn::Output output : replicated)
                  EXPECT_EQ(found.values<float>(output), expected.values<float>(output)) << output;
                if (again == 0) found.again();
              }
              ++ran;
            } catch (const Unsupported& refused) {
              EXPECT_STRNE(refused.what(), "");
            }
          }
      EXPECT_GT(ran, 9);
    }
}

/// Names of stages, by queue.
class StagesOfQueues final : public Stages {
 public:
  explicit StagesOfQueues(bool in_turn) : in_turn_(in_turn) {}
  [[nodiscard]] bool traced() const override { return in_turn_; }
  std::map<int, std::vector<std::string>> names;

 private:
  void begin(Queue& queue, const char* name) override { names[queue.index()].emplace_back(name); }
  bool in_turn_;
};

TEST(CnnSharded, GradientsAreAddedBesideTheBackwardPass) {
  const Dataset data = generated(4);
  const std::vector<std::string> kernels{"forward", "dense backward", "convolutions backward"};
  for (const bool shards : {false, true}) {
    const auto problem = make(data, {{"steps", "1"}, {"batch", "4"}, {"shard_optimizer", shards ? "on" : "off"}});
    Solved run(reference(), *problem, {.devices = 2});
    StagesOfQueues overlapped(false), in_turn(true);
    for (StagesOfQueues* stages : {&overlapped, &in_turn}) {
      run.prepared->reset();
      run.prepared->compute(*stages);
      run.prepared->fence();
    }
    const auto count = [](const std::vector<std::string>& names, const std::string& name) {
      return std::ranges::count(names, name);
    };
    for (const std::string& kernel : kernels) EXPECT_EQ(count(overlapped.names[0], kernel), 2) << "on each device";
    EXPECT_EQ(count(overlapped.names[0], "sum"), 2) << "of the convolutions: nothing is left to overlap with";
    EXPECT_EQ(count(overlapped.names[1], "sum"), shards ? 4 : 2);
    EXPECT_EQ(count(overlapped.names[1], "own update"), shards ? 2 : 0);
    EXPECT_EQ(count(overlapped.names[1], "gather"), shards ? 2 : 0);
    EXPECT_TRUE(in_turn.names[1].empty()) << "in a traced pass each stage has its own time";
    EXPECT_EQ(in_turn.names[0].size(), overlapped.names[0].size() + overlapped.names[1].size());
  }
}

}  // namespace
}  // namespace league::cnn::tests
