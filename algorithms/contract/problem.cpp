// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/contract/problem.hpp"

#include <algorithm>

namespace league {

Verdict& Verdict::operator+=(const Verdict& other) {
  ill_posed = passed() ? other.ill_posed : ill_posed && (other.ill_posed || other.passed());
  rows_checked += other.rows_checked;
  worst = std::max(worst, other.worst);
  ties += other.ties;
  if (message.empty()) message = other.message;
  for (const Figure& figure : other.figures) {
    const auto own = std::ranges::find(figures, figure.name, &Figure::name);
    if (own == figures.end()) {
      figures.push_back(figure);
    } else {
      own->numerator += figure.numerator;
      own->denominator += figure.denominator;
    }
  }
  return *this;
}

void poison(Outputs& outputs) {
  for (Output& output : outputs) std::ranges::fill(output.values.bytes(), std::byte{0xff});
}

}  // namespace league
