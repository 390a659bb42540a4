// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <numeric>

#include "tests/runtime.hpp"

// Communication of ranks under a launcher: mpirun -n 3 league_tests. With one rank, every call is the identity.
namespace league::tests {
namespace {

class OverRanks : public ::testing::Test {
 protected:
  Ranks& ranks_ = runtime().ranks();
  int rank_ = ranks_.place().rank, size_ = ranks_.place().size;
};

TEST_F(OverRanks, HaveAPlace) {
  EXPECT_GE(rank_, 0);
  EXPECT_LT(rank_, size_);
  EXPECT_LE(ranks_.place().local_size, size_);
  EXPECT_FALSE(ranks_.place().host.empty());
  EXPECT_EQ(ranks_.place().library.empty(), ranks_.place().alone());
}

TEST_F(OverRanks, ShareTextsAndValues) {
  const std::vector<std::string> texts = ranks_.texts(std::string(static_cast<std::size_t>(rank_), 'x'));
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(size_));
  for (std::size_t from = 0; from < texts.size(); ++from) EXPECT_EQ(texts[from], std::string(from, 'x'));
  const std::vector<int> values = ranks_.values(7 * rank_);
  for (std::size_t from = 0; from < values.size(); ++from) EXPECT_EQ(values[from], 7 * static_cast<int>(from));
}

TEST_F(OverRanks, MoveBytes) {
  for (int from = 0; from < size_; ++from) {
    std::vector<int> sent(1000, rank_ == from ? from + 1 : 0);
    ranks_.broadcast(std::as_writable_bytes(std::span(sent)), from);
    EXPECT_EQ(sent, std::vector<int>(1000, from + 1));
  }
  std::vector<double> sum{1.0 * rank_, 2};
  ranks_.all_reduce(sum.data(), 2, Dtype::f64);
  EXPECT_EQ(sum, (std::vector<double>{size_ * (size_ - 1) / 2.0, 2.0 * size_}));
}

TEST_F(OverRanks, AgreeOnWhatEachSays) {
  for (int round = 0; round < 20; ++round) {
    const std::vector<std::string> said = ranks_.agree(std::to_string(round * 100 + rank_));
    for (int from = 0; from < size_; ++from)
      EXPECT_EQ(said[static_cast<std::size_t>(from)], std::to_string(round * 100 + from));
  }
}

/// One rank fails while the others wait for it, in each kind of call; all continue together.
TEST_F(OverRanks, LeaveAStepThatFails) {
  if (size_ == 1) GTEST_SKIP() << "no other rank";
  for (int round = 0; round < 12; ++round) {
    const int failing = round % size_;
    std::string what;
    try {
      if (rank_ == failing) throw std::runtime_error("out of luck");
      std::vector<double> values(100'000, 1.0);
      if (round % 4 == 0) ranks_.barrier();
      if (round % 4 == 1) ranks_.all_reduce(values.data(), std::ssize(values), Dtype::f64);
      if (round % 4 == 2) ranks_.broadcast(std::as_writable_bytes(std::span(values)), failing);
      if (round % 4 == 3) static_cast<void>(ranks_.texts("here"));
      // Some operations complete without the failing rank: then the next one does not.
      ranks_.barrier();
      ADD_FAILURE() << "round " << round << ": rank " << rank_ << " did not wait for the failed rank";
    } catch (const RankFailed&) {
      what = "left";
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    const int breaks = ranks_.breaks();
    const std::vector<std::string> said = ranks_.agree(what, rank_ == failing ? Ranks::End::failed : Ranks::End::left);
    EXPECT_EQ(ranks_.breaks(), breaks + 1);
    for (int from = 0; from < size_; ++from)
      EXPECT_EQ(said[static_cast<std::size_t>(from)], from == failing ? "out of luck" : "left") << round;
    EXPECT_EQ(ranks_.values(round), std::vector<int>(static_cast<std::size_t>(size_), round));
  }
}

/// An error common to all ranks leaves no pending operations.
TEST_F(OverRanks, RefuseTogetherWithoutABreak) {
  const int breaks = ranks_.breaks();
  const std::vector<std::string> said = ranks_.agree("no", Ranks::End::failed);
  EXPECT_EQ(said, std::vector<std::string>(static_cast<std::size_t>(size_), "no"));
  EXPECT_EQ(ranks_.breaks(), breaks);
  EXPECT_EQ(ranks_.values(1), std::vector<int>(static_cast<std::size_t>(size_), 1));
}

}  // namespace
}  // namespace league::tests
