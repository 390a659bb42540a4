// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/budget.hpp"
#include "algorithms/ceilings/ceilings.hpp"
#include "algorithms/split.hpp"

namespace league::ceilings {

/// The arrays of one shard, whatever their model: `make(label, elements)` allocates one.
template <class Array>
class CeilingPart : public Part {
 public:
  using T = typename Array::value_type;

 protected:
  template <class Make>
  CeilingPart(const Ceilings& problem, const Context& context, const Shard& shard, const Make& make)
      : Part(context, shard),
        kernel_(problem.kernel),
        factor_(static_cast<T>(problem.recurrence.factor)),
        even_(static_cast<T>(problem.recurrence.even)),
        odd_(static_cast<T>(problem.recurrence.odd)),
        steps_(problem.recurrence.steps),
        out_(make("ceilings/out", rows().size() * problem.output_row_size())),
        a_(make("ceilings/a", problem.a.size() > 0 ? rows().size() * problem.row_size : 0)),
        b_(make("ceilings/b", problem.b.size() > 0 ? rows().size() * problem.row_size : 0)) {
    require_memory((out_.size() + a_.size() + b_.size()) * std::int64_t{sizeof(T)}, context.memory_budget_bytes);
    output(out_, 0);
    if (a_.size() > 0) input(a_, problem.a.values<T>(rows().begin, rows().end));
    if (b_.size() > 0) input(b_, problem.b.values<T>(rows().begin, rows().end));
  }

  Kernel kernel_;
  T factor_, even_, odd_;
  int steps_;
  Array out_, a_, b_;
};

/// One registration for each method of a model.
struct RegisterAll {
  RegisterAll(Model model, std::unique_ptr<Prepared> (*prepare)(const Ceilings&, const Context&)) {
    for (const char* method : {"copy", "read", "write", "add", "multiply_add"})
      Register<Ceilings>(method, model, prepare);
  }
};

}  // namespace league::ceilings
