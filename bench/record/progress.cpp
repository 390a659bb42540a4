// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/record/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>

namespace league::bench {
namespace {

std::string printed(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// Three digits and the unit that keeps them short.
std::string scaled(double value, double step, std::initializer_list<const char*> units) {
  auto unit = units.begin();
  while (value >= step && unit + 1 != units.end()) {
    value /= step;
    ++unit;
  }
  return printed("%.3g ", value) + *unit;
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(int cases, int skipped)
    : terminal_(isatty(STDERR_FILENO) == 1), cases_(cases), left_(cases - skipped) {}

Progress::~Progress() { clear(); }

std::string Progress::position() const {
  std::string text = "[" + std::to_string(done_) + "/" + std::to_string(cases_) + "]";
  if (ran_ > 0) text += " " + readable_time(since_start_.seconds() / ran_ * left_) + " left";
  return text;
}

void Progress::begin_comparison(const std::string& name) {
  if (!terminal_) std::cerr << position() << " " << name << "\n";
}

void Progress::doing(const std::string& what, const std::string& name) {
  if (!terminal_ || (shown_ && since_shown_.seconds() < 0.1)) return;
  const std::string line = position() + " " + what + " " + name;
  std::cerr << "\r\033[K" << line.substr(0, terminal_width() - 1) << std::flush;
  shown_ = true;
  since_shown_ = Stopwatch();
}

void Progress::finish_case(const std::string& line, bool runs, bool before) {
  ++done_;
  if (runs) --left_;
  if (runs && !before) ++ran_;
  if (line.empty()) return;
  clear();
  std::cout << line << std::endl;
}

void Progress::clear() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

std::string readable_time(double seconds) {
  if (seconds < 90) return printed("%.0f s", seconds);
  return seconds < 5400 ? printed("%.0f min", seconds / 60) : printed("%.1f h", seconds / 3600);
}

std::string readable_sample(double seconds) {
  return seconds < 1 ? scaled(seconds * 1e9, 1000, {"ns", "us", "ms"}) : printed("%.3g s", seconds);
}

}  // namespace league::bench
