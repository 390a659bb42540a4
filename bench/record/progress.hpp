// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "bench/measure/clock.hpp"

namespace league::bench {

/// Progress of a run on stderr: on a terminal one line that is overwritten, elsewhere one line per comparison.
class Progress {
 public:
  /// `skipped`: how many of the cases are known to be skipped.
  Progress(int cases, int skipped);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin_comparison(const std::string& name);
  /// Shows what is being done to a case.
  void doing(const std::string& what, const std::string& name);
  /// One case is done. `line`, if not empty, is printed to stdout. `runs`: it was not known to be skipped; `before`:
  /// done by the run that is resumed.
  void finish_case(const std::string& line, bool runs, bool before);

 private:
  [[nodiscard]] std::string position() const;
  void clear();

  bool terminal_;
  int cases_, left_;
  int done_ = 0, ran_ = 0;
  bool shown_ = false;
  Stopwatch since_start_, since_shown_;
};

/// "45 s", "3 min", "2.5 h".
std::string readable_time(double seconds);
/// "734 ns", "12.3 us", "4.56 ms", "1.23 s".
std::string readable_sample(double seconds);
}  // namespace league::bench
