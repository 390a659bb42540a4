// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/python/process.hpp"
#include "bench/peers/shared_arrays.hpp"

namespace league::bench {

/// The interpreter, the inputs that its processes share for as long as one of them works on them, and workers that are
/// started ahead of their cases, several at once: each imports its library, which takes seconds.
class PeerHost {
 public:
  /// What a worker imports, and how many threads it has.
  struct Library {
    std::string algorithm, model;
    int threads;
    bool operator==(const Library&) const = default;
  };

  explicit PeerHost(python::Interpreter interpreter) : interpreter_(std::move(interpreter)) {}
  [[nodiscard]] const python::Interpreter& interpreter() const { return interpreter_; }
  std::shared_ptr<SharedArrays> inputs_of(const Problem& problem, std::int64_t free_bytes);

  /// The libraries of the next cases, in their order. Workers that nobody took end.
  void expect(std::deque<Library> next, int at_once);
  /// Starts the next workers, `at_once` of them, if none is waiting.
  void start_ahead();
  /// A worker that has imported the library, else a new one. @throws std::runtime_error if it cannot be started
  [[nodiscard]] std::unique_ptr<python::Process> take(const Library& library);
  /// Waits until no worker imports anything, so that none takes time from what is measured next.
  void settle();

 private:
  struct Ahead {
    Library library;
    std::unique_ptr<python::Process> process;
    bool is_asked = true;  ///< it has not answered yet
  };
  [[nodiscard]] std::unique_ptr<python::Process> start(int threads) const;
  static bool is_usable(Ahead& ahead);

  python::Interpreter interpreter_;
  std::map<const Problem*, std::weak_ptr<SharedArrays>> inputs_;
  std::deque<Library> next_;
  std::vector<Ahead> ahead_;
  std::size_t at_once_ = 0;
};

}  // namespace league::bench
