// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/backend.hpp"

namespace league {

/// Worker threads that prepare the inputs of steps ahead of their use, each in a slot of a ring. They may run on all
/// processors of the OpenMP places, not only on the one that the calling thread is bound to.
class Loader {
 public:
  /// Prepares the input of a step in a slot; several threads call it at the same time, for different slots.
  using Fill = std::function<void(std::int64_t step, int slot)>;

  /// The destructor waits for fills in progress only. @pre slots > 0, workers > 0
  Loader(int workers, int slots, Fill fill);
  /// Begins with these steps; what was prepared for others is discarded. Slots that were taken stay taken.
  void start(Range steps);
  /// Waits for the input of the next step, and takes its slot, which stays as it is until `release`.
  /// @pre there is a next step, and a slot that is not taken @throws what a worker threw
  [[nodiscard]] int take();
  void release(int slot);

 private:
  void work(const std::stop_token& stop);

  Fill fill_;
  std::mutex mutex_;  ///< of all below
  std::condition_variable_any changed_;
  Range waiting_{};                    ///< steps that no worker has begun with
  std::int64_t next_ = 0;              ///< step of the next `take`
  std::map<std::int64_t, int> ready_;  ///< slots by step
  std::vector<int> free_;
  int busy_ = 0;  ///< workers
  std::exception_ptr error_;
  std::vector<std::jthread> threads_;  ///< end before the rest
};

}  // namespace league
