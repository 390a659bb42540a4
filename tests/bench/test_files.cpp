// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "bench/data/npy.hpp"
#include "bench/files.hpp"
#include "tests/bench/temporary.hpp"

namespace {
/// What was synced, by the name that it had then; nothing unless a test asks.
std::vector<std::string>* synced = nullptr;
}  // namespace

/// Stands before the C library's.
extern "C" int fsync(int file) {
  if (synced != nullptr) synced->push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file)));
  return static_cast<int>(syscall(SYS_fsync, file));
}

namespace league::bench {
namespace {

using tests::TemporaryFolder, tests::read_file;

TEST(Npy, HasNumpysHeaderAndTheValues) {
  const TemporaryFolder folder;
  HostArray array(*std::pmr::new_delete_resource(), Dtype::i64, {2, 3});
  for (std::size_t i = 0; i < 6; ++i) array.values<std::int64_t>()[i] = static_cast<std::int64_t>(i) - 2;
  write_npy(folder.path() / "a.npy", array);
  const std::string bytes = read_file(folder.path() / "a.npy");
  const std::size_t length = static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ((10 + length) % 64, 0U);
  EXPECT_EQ(bytes.substr(10, 60), "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3, ), ");
  EXPECT_EQ(bytes[10 + length - 1], '\n');
  ASSERT_EQ(bytes.size(), 10 + length + 48);
  EXPECT_EQ(std::memcmp(bytes.data() + 10 + length, array.bytes().data(), 48), 0);
}

TEST(Npy, TakesNoRows) {
  const TemporaryFolder folder;
  write_npy(folder.path() / "a.npy", HostArray(*std::pmr::new_delete_resource(), Dtype::u8, {0}));
  EXPECT_NE(read_file(folder.path() / "a.npy").find("'|u1'"), std::string::npos);
}

TEST(WrittenFiles, AreThereWholeOrNotAtAll) {
  const TemporaryFolder folder;
  write_whole(folder.path() / "a", "one, ", "two");
  EXPECT_EQ(read_file(folder.path() / "a"), "one, two");
  EXPECT_EQ(folder.names(), (std::set<std::string>{"a"}));
  EXPECT_THROW(write_whole(folder.path() / "none" / "a", "x"), std::runtime_error);
  try {
    write_whole("/dev/full", "x");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("No space left on device"), std::string::npos) << error.what();
  }
}

TEST(WrittenFiles, AreOnTheDiskBeforeTheyHaveTheirNames) {
  const TemporaryFolder folder;
  std::vector<std::string> files;
  synced = &files;
  write_whole(folder.path() / "a", "x");
  synced = nullptr;
  ASSERT_EQ(files.size(), 2U);
  EXPECT_TRUE(is_unfinished(files[0])) << files[0];
  EXPECT_EQ(files[1], folder.path());
}

TEST(WrittenFiles, LeaveAlsoUnfinishedWhatCanBeTold) {
  const TemporaryFolder folder;
  {
    const NewFile file(folder.path() / "a", "x");
    ASSERT_EQ(folder.names().size(), 1U);
    EXPECT_TRUE(is_unfinished(*folder.names().begin()));
  }
  EXPECT_TRUE(folder.names().empty());
  for (const char* other : {"a.part", ".league-part", "12.league-part", ".12.league-part2", ".a.league-part"})
    EXPECT_FALSE(is_unfinished(other)) << other;
}

TEST(WrittenFiles, HaveNamesThatFileSystemsTake) {
  EXPECT_EQ(file_name("knn/method:fused/devices:2"), "knn,method:fused,devices:2");
  const std::string first = file_name(std::string(400, 'a') + "1"), second = file_name(std::string(400, 'a') + "2");
  EXPECT_LE(first.size(), 230U);
  EXPECT_NE(first, second);
}

TEST(WrittenFiles, HashTheirBytes) {
  const TemporaryFolder folder;
  EXPECT_EQ(file_hash(folder.write("empty", "")), "cbf29ce484222325");
  EXPECT_EQ(file_hash(folder.write("a", "a")), "af63dc4c8601ec8c");
}

}  // namespace
}  // namespace league::bench
