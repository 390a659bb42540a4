// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/contract/problem.hpp"

#include <algorithm>
#include <functional>

#include "backends/host_memory.hpp"

namespace league {

std::vector<double> Curve::values() const {
  std::vector<double> all = numerators;
  for (double& value : all) value /= denominator;
  return all;
}

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
  for (const Curve& curve : other.curves) {
    const auto own = std::ranges::find(curves, curve.name, &Curve::name);
    if (own == curves.end()) {
      curves.push_back(curve);
    } else {
      std::ranges::transform(own->numerators, curve.numerators, own->numerators.begin(), std::plus());
      own->denominator += curve.denominator;
    }
  }
  return *this;
}

void poison(Outputs& outputs) {
  for (Output& output : outputs) fill_bytes(output.values.bytes(), std::byte{0xff});
}

}  // namespace league
