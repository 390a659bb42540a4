// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstring>

#include "algorithms/blocks/mma_cuda.hpp"
#include "backends/cuda/cuda.hpp"
#include "tests/backends/mma_probe.hpp"

namespace league::tests {
namespace {

using namespace blocks::mma;

// One warp, operands through shared memory.
template <class Unit>
__global__ void product(const typename Unit::Word* a, const typename Unit::Word* b, int steps, typename Unit::Sum* c) {
  alignas(16) __shared__ typename Unit::Word of_a[piece_words], of_b[piece_words];
  const int lane = threadIdx.x;
  typename Unit::fragment_c sums;
  for (int step = 0; step < steps; ++step) {
    for (int word = lane; word < piece_words; word += Unit::lanes) {
      of_a[word] = a[step * piece_words + word];
      of_b[word] = b[step * piece_words + word];
    }
    __syncthreads();
    typename Unit::fragment_a x;
    typename Unit::fragment_b y;
    Unit::load(x, of_a, lane);
    Unit::load(y, of_b, lane);
    Unit::mma_sync(sums, x, y);
    __syncthreads();
  }
  typename Unit::Sum values[Unit::sums];
  Unit::values(sums, values);
  for (int i = 0; i < Unit::sums; ++i) c[Unit::row(lane, i) * side + Unit::column(lane, i)] = values[i];
}

template <class Unit>
void product_by(Queue& queue, std::span<const std::byte> a, std::span<const std::byte> b, std::span<std::byte> c) {
  using Word = typename Unit::Word;
  const auto words_of = [](std::span<const std::byte> bytes) {
    return std::span(reinterpret_cast<const Word*>(bytes.data()), bytes.size() / sizeof(Word));
  };
  const auto size = static_cast<std::int64_t>(words_of(a).size());
  cuda::Array<Word> left(queue, size), right(queue, size);
  cuda::Array<typename Unit::Sum> sums(queue, side * side);
  left.copy_from(words_of(a));
  right.copy_from(words_of(b));
  product<Unit><<<1, Unit::lanes, 0, cuda::stream(queue)>>>(left.data(), right.data(),
                                                            static_cast<int>(size / piece_words), sums.data());
  cuda::check_launch();
  sums.copy_to(std::span(reinterpret_cast<typename Unit::Sum*>(c.data()), side * side));
  queue.fence();
}

template <Element element>
void product_of(Queue& queue, std::span<const std::byte> a, std::span<const std::byte> b, std::span<std::byte> c) {
  product_by<Warp<element>>(queue, a, b, c);
}

void product_of_any(Queue& queue, Element element, bool matrices, std::span<const std::byte> a,
                    std::span<const std::byte> b, std::span<std::byte> c) {
  if (matrices) return product_by<WarpMatrices>(queue, a, b, c);
  switch (element) {
    case Element::u8:
      return product_of<Element::u8>(queue, a, b, c);
    case Element::s8:
      return product_of<Element::s8>(queue, a, b, c);
    case Element::f16:
      return product_of<Element::f16>(queue, a, b, c);
    case Element::bf16:
      return product_of<Element::bf16>(queue, a, b, c);
    case Element::tf32:
      return product_of<Element::tf32>(queue, a, b, c);
    case Element::f32:
      return product_of<Element::f32>(queue, a, b, c);
    case Element::f64:
      return product_of<Element::f64>(queue, a, b, c);
  }
}

const bool known = [] {
  mma_product_on_gpu() = product_of_any;
  return true;
}();

}  // namespace
}  // namespace league::tests
