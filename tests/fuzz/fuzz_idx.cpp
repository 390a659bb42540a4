// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <zlib.h>

#include <functional>
#include <numeric>

#include "bench/data/idx.hpp"
#include "bench/errors.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/fuzz/target.hpp"

// An IDX file, plain or gzipped, of as many dimensions as its first byte says. One that is taken is what a file written
// from it holds.
namespace league::bench {
namespace {

std::string written(const Idx& idx) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(idx.extents.size())};
  for (const std::int64_t extent : idx.extents)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(extent >> shift & 0xff);
  return bytes.append(idx.values.begin(), idx.values.end());
}

std::string packed(const std::string& bytes) {
  std::string out(bytes.size() + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Idx read(const std::string& bytes, int dimensions) {
  static const tests::TemporaryFolder folder;
  return read_idx(folder.write("idx", bytes), dimensions);
}

void feed(const std::string& text) {
  if (text.empty()) return;
  const int dimensions = 1 + (text.front() & 3);
  Idx idx;
  try {
    idx = read(text.substr(1), dimensions);
  } catch (const BadInput&) {
    return;
  }
  const std::int64_t size = std::accumulate(idx.extents.begin(), idx.extents.end(), std::int64_t{1}, std::multiplies());
  fuzz::require(size == static_cast<std::int64_t>(idx.values.size()), "it holds fewer values than its header says");
  for (const std::string& bytes : {written(idx), packed(written(idx))}) {
    const Idx again = read(bytes, dimensions);
    fuzz::require(again.extents == idx.extents && again.values == idx.values, "written and read, it is another one");
  }
}

std::vector<std::string> seeds() {
  const std::string images = written({{2, 3, 2}, std::vector<std::uint8_t>(12, 7)}), labels = written({{3}, {1, 2, 3}});
  const std::string two = packed(labels.substr(0, 6)) + packed(labels.substr(6));
  return {"\2" + images,
          std::string(1, '\0') + labels,
          "\2" + packed(images),
          '\0' + two,
          '\0' + packed(labels) + "junk",
          "\1" + written({{0, 5}, {}}),
          '\0' + images,
          '\0' + labels + "x",
          "\1" + written({{0x7fffffff, 0x7fffffff}, {}}),
          std::string("\0\0\0\x9\1\0\0\0\0", 9)};
}

const fuzz::RegisterTarget registered{"idx", {feed, seeds, {"bench/data/bytes.cpp", "bench/data/idx.cpp"}}};

}  // namespace
}  // namespace league::bench
