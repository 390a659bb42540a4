// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/expected.hpp"

namespace league::bench {

std::vector<Band> read_expected(const Value& value) {
  const auto* table = value.get<Value::Table>();
  if (table == nullptr)
    value.refuse("expect", "takes a table of figures such as {accuracy = [0.98, 0.99]}, not " + value.type());
  std::vector<Band> bands;
  for (const auto& [figure, ends] : *table) {
    const std::string key = "expect." + figure;
    const auto* list = ends.get<Value::List>();
    if (list == nullptr || list->size() != 2)
      ends.refuse(key, "takes a list of two numbers: the minimum and the maximum");
    const Band band{figure, list->front().real(key, {}), list->back().real(key, {})};
    if (band.low > band.high) ends.refuse(key, "ends below its begin");
    bands.push_back(band);
  }
  return bands;
}

}  // namespace league::bench
