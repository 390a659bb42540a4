// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/wait.hpp"
#include "tests/backends/wait_probe.hpp"

namespace league::tests {
namespace {

constexpr unsigned stamp = 7;

__global__ void send(cuda::Word* words, double value) { cuda::publish(words, words + 1, value, stamp); }
__global__ void receive(const cuda::Word* words, double* value, std::uint64_t limit_ns) {
  *value = cuda::await(words, words + 1, stamp, limit_ns);
}

double received(Queue& queue, const cuda::Array<cuda::Word>& words, std::uint64_t limit_ns) {
  cuda::Array<double> value(queue, 1);
  receive<<<1, 1, 0, cuda::stream(queue)>>>(words.data(), value.data(), limit_ns);
  cuda::check_launch();
  double host = 0;
  value.copy_to({&host, 1});
  queue.fence();
  return host;
}

double send_and_receive(Queue& queue, double sent) {
  cuda::Array<cuda::Word> words(queue, 2);
  words.clear();
  send<<<1, 1, 0, cuda::stream(queue)>>>(words.data(), sent);
  cuda::check_launch();
  return received(queue, words, cuda::wait_limit_ns);
}

void wait_in_vain(Queue& queue) {
  cuda::Array<cuda::Word> words(queue, 2);
  words.clear();
  received(queue, words, 100'000'000);
}

const bool known = [] {
  wait_probe_on_gpu() = {send_and_receive, wait_in_vain};
  return true;
}();

}  // namespace
}  // namespace league::tests
