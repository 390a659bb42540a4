// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/backends/exchange_probe.hpp"
#include "tests/runtime.hpp"

/// Communicators against plain loops: on host devices always, on GPUs if there are enough.
namespace league::tests {

struct EngineSetting {
  std::string engine;
  DeviceKind kind;
  int devices;  ///< per rank
};
std::ostream& operator<<(std::ostream& out, const EngineSetting& setting);
/// Every engine of this build on several numbers of devices; once on a single one.
std::vector<EngineSetting> engine_settings();

constexpr std::int64_t probe_rounds = 7;  // odd: each round occurs at both parities of the stamps

/// Values of very different magnitudes, [probe_rounds x size], so that the order of additions matters.
HostArray sent_by(std::size_t shard, std::int64_t size, Dtype type = Dtype::f64);
std::vector<double> first_round(const HostArray& all);

std::unique_ptr<ExchangeProbe> make_probe(Queue& queue, const ProbeRounds& rounds);

enum class Operation { all_reduce, reduce_scatter, all_gather, broadcast, exchange };

/// One collective, repeated.
struct Plan {
  Operation operation = Operation::all_reduce;
  std::int64_t size = 0;
  Dtype type = Dtype::f64;
  Order order = Order::any;
  int queue = 0;
  std::int64_t skew = 0;              ///< values before the buffers of all shards
  std::int64_t skew_every_other = 0;  ///< and additional ones before those of odd shards
};
std::ostream& operator<<(std::ostream& out, const Plan& plan);

class Communication : public ::testing::TestWithParam<EngineSetting> {
 protected:
  void SetUp() override;

  /// The probes of a plan, one per shard of this rank, and its reservation. Probes are filled and compared on queue 0.
  class Trial {
   public:
    Trial(Communication& test, const Plan& plan);
    void fill();
    /// Submits the call on its queue, after queue 0 if that is another.
    void call();
    /// Queue 0 waits for the call, and compares.
    void compare();
    void once() { fill(), call(), compare(); }
    void expect_right();
    [[nodiscard]] std::vector<Buffer> buffers() const;
    [[nodiscard]] ExchangeProbe& probe(std::size_t shard) { return *probes_[shard]; }

   private:
    void between_queues(bool back);
    Communication& test_;
    Plan plan_;
    std::vector<std::unique_ptr<ExchangeProbe>> probes_;
  };

  [[nodiscard]] bool alone() const { return world_.alone(); }
  /// Calls between GPUs that wait for the host cannot be recorded.
  [[nodiscard]] bool can_be_recorded() const {
    return alone() || GetParam().engine != "mpi" || GetParam().kind == DeviceKind::host;
  }
  /// For order `any`, the library's order is unknown.
  [[nodiscard]] double tolerance(const Plan& plan, double magnitude) const;
  void fence();

  Runtime& runtime_ = tests::runtime();
  Partition world_;
  std::vector<Shard> shards_;
  std::vector<Queue*> queues_;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace league::tests
