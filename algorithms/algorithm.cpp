// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/algorithm.hpp"

#include <algorithm>

namespace league {

Verdict& Verdict::operator+=(const Verdict& other) {
  ill_posed = passed() ? other.ill_posed : ill_posed && (other.ill_posed || other.passed());
  rows_checked += other.rows_checked;
  worst = std::max(worst, other.worst);
  ties += other.ties;
  if (message.empty()) message = other.message;
  figures.insert(figures.end(), other.figures.begin(), other.figures.end());
  return *this;
}

void Stages::stage(Queue& queue, const char* name, const std::function<void()>& body) {
  queue.push_range(name);
  begin(queue, name);
  body();
  end(queue, name);
  queue.pop_range();
}

}  // namespace league
