// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include <omp.h>

#include "algorithms/overheads/rounds.hpp"
#include "backends/host_array.hpp"

// A launch is a parallel region, a team all threads of the device; teams run one after another.
namespace league::openmp::overheads {
namespace {

using namespace league::overheads;

class HostShard : public RoundShard {
 public:
  HostShard(const Overheads& problem, const Context& context, const Shard& shard)
      : RoundShard(context, shard), problem_(problem) {
    declare(count_, "overheads/count", rows().size());
    output(count_, 0);
  }
  Launch configure(Launch launch) override {
    threads_ = threads(queue(), launch);
    return {threads_, 1, 1};
  }

 protected:
  const Overheads& problem_;
  host::Array<double> count_;
  int threads_ = 1;
};

class Launches final : public HostShard {
 public:
  using HostShard::HostShard;
  void take() override {
    queue().submit([repeats = problem_.repeats, rows = rows().size(), count = count_.data(), threads = threads_] {
#pragma omp parallel num_threads(threads)
      if (omp_get_thread_num() == 0)
        for (std::int64_t row = 0; row < rows; ++row) count[row] = next_count(count[row], repeats);
    });
  }
};

/// The host counts; the last allocation is written to and read.
class Allocations final : public HostShard {
 public:
  Allocations(const Overheads& problem, const Context& context, const Shard& shard)
      : HostShard(problem, context, shard), words_(ceil_div<std::int64_t>(problem.bytes, sizeof(double))) {
    declare(memory_, "overheads/allocation", words_);
  }
  void take() override {
    memory_ = {};
    memory_ = host::Array<double>(queue(), words_);
    ++allocations_;
  }
  void finish() override {
    volatile double& last = memory_.data()[words_ - 1];
    last = std::exchange(allocations_, 0);
    std::fill_n(count_.data(), rows().size(), double{last});
  }

 private:
  const std::int64_t words_;
  host::Array<double> memory_;
  int allocations_ = 0;
};

/// What a thread adds, by parity of the round: a cache line of its own.
struct alignas(64) Shares {
  double value[2];
};

/// Every thread adds the shares of all, in order; one barrier per round.
template <class T>
class TeamSums final : public HostShard {
 public:
  using HostShard::HostShard;
  void take() override {
    for (std::int64_t row = 0; row < rows().size(); ++row)
      queue().submit([repeats = problem_.repeats, threads = threads_, count = count_.data() + row] {
        std::vector<Shares> shares(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
        {
          const int thread = omp_get_thread_num(), all = omp_get_num_threads();
          T sum = 0;
          for (int round = 0; round < repeats; ++round) {
            shares[static_cast<std::size_t>(thread)].value[round & 1] =
                static_cast<double>(share_of(thread, all, round, sum));
#pragma omp barrier
            sum = 0;
            for (int other = 0; other < all; ++other)
              sum += static_cast<T>(shares[static_cast<std::size_t>(other)].value[round & 1]);
          }
          if (thread == 0) *count = static_cast<double>(sum);
        }
      });
  }
};

/// One team: the barrier is that of its threads.
class Barriers final : public HostShard {
 public:
  using HostShard::HostShard;
  Launch configure(Launch launch) override {
    if (rows().size() > 1)
      throw Unsupported(std::to_string(rows().size()) +
                        " teams: on a host one team has all threads, and a barrier needs all teams at once; teams=1");
    return HostShard::configure(launch);
  }
  void take() override {
    queue().submit([repeats = problem_.repeats, threads = threads_, count = count_.data()] {
      double told[2] = {};
#pragma omp parallel num_threads(threads)
      {
        double mine = 0;
        for (int round = 0; round < repeats; ++round) {
          if (omp_get_thread_num() == 0) told[round & 1] = mine + 1;
#pragma omp barrier
          mine = told[round & 1];
        }
        if (omp_get_thread_num() + 1 == omp_get_num_threads()) *count = mine;
      }
    });
  }
};

const RegisterRounds<Launches> launch{"launch", model, Loop::host, Clock::host, recordable};
const RegisterRounds<Launches> kernel{"kernel", model, Loop::host, Clock::device, recordable};
const RegisterRounds<Launches> fence{"fence", model, Loop::fenced, Clock::host};
const RegisterRounds<Allocations> allocation{"allocation", model, Loop::host, Clock::host};
const RegisterSums<TeamSums> team_reduction{"team_reduction", model};
const RegisterRounds<Barriers> league_barrier{"league_barrier", model, Loop::kernel, Clock::device};

}  // namespace
}  // namespace league::openmp::overheads
