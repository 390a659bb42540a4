// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/cifar.hpp"
#include "bench/errors.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/fuzz/target.hpp"

// A binary file of CIFAR-10. What is read of one that is taken are the bytes of its records.
namespace league::bench {
namespace {

void feed(const std::string& text) {
  static const tests::TemporaryFolder folder;
  Cifar read;
  try {
    read = read_cifar(folder.write("batch", text));
  } catch (const BadInput&) {
    return;
  }
  if (text.starts_with("\x1f\x8b")) return;
  std::string again;
  for (std::size_t i = 0; i < read.labels.size(); ++i) {
    const auto first = read.images.begin() + static_cast<std::ptrdiff_t>(i) * Cifar::features;
    again += static_cast<char>(read.labels[i]);
    again.append(first, first + Cifar::features);
  }
  fuzz::require(again == text, "what is read is not what the file holds");
  fuzz::require(as_colour(read.images).size() == read.images.size() / 784 * Cifar::features, "images are lost");
}

std::vector<std::string> seeds() {
  const std::string image(Cifar::features, '\7');
  return {'\3' + image, '\xb' + image, '\3' + image.substr(1), ""};
}

const fuzz::RegisterTarget registered{"cifar", {feed, seeds, {"bench/data/cifar.cpp"}}};

}  // namespace
}  // namespace league::bench
