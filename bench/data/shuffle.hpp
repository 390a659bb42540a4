// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

namespace league::bench {

/// The numbers 0 ... n-1 in the order of numpy.random.RandomState(seed).permutation(n): Fisher-Yates from the end, each
/// place drawn from the 32-bit Mersenne Twister by masking and rejection.
/// @pre n <= 2^32
std::vector<std::int64_t> numpy_permutation(std::int64_t n, std::uint64_t seed);

/// The rows of a test and a training set, as positions in the file.
struct Split {
  std::vector<std::int64_t> train, test;
};

/// A quarter of n rows, rounded up: what scikit-learn's train_test_split(test_size=.25) takes as the test set.
std::int64_t quarter_of(std::int64_t n);

/// Splits off `test` of n rows, as train_test_split does: shuffled with random_state=seed, the test set first; or, not
/// `shuffled`, in the order of the file, the test set last.
Split split_rows(std::int64_t n, std::int64_t test, bool shuffled, std::uint64_t seed);

}  // namespace league::bench
