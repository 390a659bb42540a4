// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/memory_shares.hpp"

#include <algorithm>

#include "bench/study/axes.hpp"

namespace league::bench {
namespace {

constexpr const char* share_key = "memory_share";
constexpr Interval shares{.min = 0, .max = 1, .open_min = true};
constexpr std::int64_t multiple = 1024;

/// The share of `{ memory_share = 0.1 }`; null for any other value. @throws BadInput for keys beside it
const Value* share_of(const Value& value) {
  const auto* table = value.get<Value::Table>();
  const Value* share = table == nullptr ? nullptr : find(*table, share_key);
  if (share != nullptr && table->size() > 1) value.refuse(share_key, "stands alone: leave out the other keys");
  return share;
}

/// Calls `visit(name, value)` for each value of a size, both of `sizes` and of `sizes.n`.
template <class Table, class Visit>
void for_sizes(Table& values, const Visit& visit) {
  const auto each_of = [&](const std::string& name, auto& value) {
    auto* list = std::get_if<Value::List>(&value.content);
    if (list == nullptr) return visit(name, value);
    for (auto& one : *list) visit(name, one);
  };
  const auto each_of_point = [&](auto& point) {
    if (auto* sizes = std::get_if<Value::Table>(&point.content))
      for (auto& size : *sizes) each_of(size.key, size.value);
  };
  for (auto& entry : values) {
    if (entry.key.starts_with("sizes.")) each_of(entry.key.substr(6), entry.value);
    if (entry.key != "sizes") continue;
    each_of_point(entry.value);
    if (auto* points = std::get_if<Value::List>(&entry.value.content)) std::ranges::for_each(*points, each_of_point);
  }
}

/// What shares are of [B].
double memory_bytes(const Runtime& runtime) {
  std::int64_t bytes = runtime.info({DeviceKind::host, 0, 1}).memory_bytes;
  if (!runtime.gpus().empty()) bytes = std::ranges::min(runtime.gpus(), {}, &DeviceInfo::memory_bytes).memory_bytes;
  return static_cast<double>(bytes);
}

/// n of one share of so many values. @throws BadInput
Value length(const Value& share, const std::string& key, double values) {
  const auto n = static_cast<std::int64_t>(share.real(key, shares) * values) / multiple * multiple;
  if (n == 0) share.refuse(key, "is less than 1,024 values of this machine's memory");
  return {.place = share.place, .content = n};
}

/// The table for one type. @throws BadInput
Settings resolved(Settings table, Dtype dtype, const Runtime& runtime) {
  const double values = memory_bytes(runtime) / static_cast<double>(size_bytes(dtype));
  for_sizes(table.values, [&](const std::string& name, Value& value) {
    const Value* share = share_of(value);
    if (share == nullptr) return;
    const auto& parameters = table.algorithm->parameters;
    const auto size = std::ranges::find(parameters, name, &Parameter::name);
    if (size != parameters.end() && !size->is_length)
      value.refuse("sizes." + name, "of " + table.algorithm->name + " is not the length of an array: give a number");
    Value n = length(*share, "sizes." + name + "." + share_key, values);
    value = std::move(n);
  });
  std::erase_if(table.values, [](const Value::Entry& entry) { return entry.key == "dtypes"; });
  table.values.push_back({"dtypes", {.place = "", .content = std::string(name(dtype))}});
  return table;
}

}  // namespace

std::vector<Settings> resolve_memory_shares(const Settings& table, const Runtime& runtime) {
  bool has_shares = false;
  for_sizes(table.values, [&](const std::string&, const Value& value) { has_shares |= share_of(value) != nullptr; });
  if (!has_shares) return {table};
  std::vector<Settings> all;
  for (const Dtype dtype : Axes(table).dtypes()) all.push_back(resolved(table, dtype, runtime));
  return all;
}

}  // namespace league::bench
