// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/peers.hpp"

namespace league::cuda {
namespace {

constexpr std::size_t tried_bytes = 4096;
using Pattern = std::array<unsigned char, tried_bytes>;

/// Some memory of a GPU.
class Piece {
 public:
  explicit Piece(int gpu, const Pattern& content = {}) : gpu_(gpu) {
    check(cudaSetDevice(gpu));
    check(cudaMalloc(&data_, tried_bytes));
    check(cudaMemcpy(data_, content.data(), tried_bytes, cudaMemcpyHostToDevice));
  }
  ~Piece() { static_cast<void>(cudaFree(data_)); }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;
  void take(const Piece& from) { check(cudaMemcpyPeer(data_, gpu_, from.data_, from.gpu_, tried_bytes)); }
  [[nodiscard]] Pattern content() const {
    Pattern found{};
    check(cudaSetDevice(gpu_));
    check(cudaMemcpy(found.data(), data_, tried_bytes, cudaMemcpyDeviceToHost));
    return found;
  }

 private:
  int gpu_;
  void* data_ = nullptr;
};

/// Writes to the other GPU, and reads back.
bool arrives(int from, int to) {
  Pattern pattern{};
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<unsigned char>(7 * i + 1);
  const Piece here(from, pattern);
  Piece there(to), back(from);
  there.take(here);
  back.take(there);
  return there.content() == pattern && back.content() == pattern;
}

PeerAccess try_access(int from, int to) {
  int possible = 0;
  check(cudaDeviceCanAccessPeer(&possible, from, to));
  if (possible == 0) return PeerAccess::none;
  check(cudaSetDevice(from));
  check(cudaDeviceEnablePeerAccess(to, 0));
  return arrives(from, to) ? PeerAccess::works : PeerAccess::broken;
}

}  // namespace

PeerAccess peer_access(int from, int to) {
  static std::map<std::pair<int, int>, PeerAccess> tried;
  const auto known = tried.find({from, to});
  return known != tried.end() ? known->second : tried[{from, to}] = try_access(from, to);
}

}  // namespace league::cuda
