// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/study/memory_shares.hpp"

#include <algorithm>

#include "bench/study/axes.hpp"

namespace league::bench {
namespace {

constexpr const char* share_key = "memory_share";
constexpr Interval shares{.min = 0, .max = 1, .open_min = true};
constexpr std::int64_t multiple = 1024;

/// The share of `{ memory_share = 0.1 }`; null for any other value.
const Value* share_of(const Value& value) {
  const auto* table = value.get<Value::Table>();
  return table == nullptr ? nullptr : find(*table, share_key);
}

/// Calls `visit(name, value)` for each value of a size, both of `sizes` and of `sizes.n`.
template <class Visit>
void for_sizes(Value::Table& values, const Visit& visit) {
  const auto each_of = [&](const std::string& name, Value& value) {
    auto* list = std::get_if<Value::List>(&value.content);
    if (list == nullptr) return visit(name, value);
    for (Value& one : *list) visit(name, one);
  };
  const auto each_of_point = [&](Value& point) {
    if (auto* sizes = std::get_if<Value::Table>(&point.content))
      for (Value::Entry& size : *sizes) each_of(size.key, size.value);
  };
  for (Value::Entry& entry : values) {
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

/// n of one share. @throws BadInput
Value length(const Value& share, const std::string& key, double values) {
  const auto n = static_cast<std::int64_t>(share.real(key, shares) * values) / multiple * multiple;
  if (n == 0) share.refuse(key, "is less than 1,024 values of this machine's memory");
  return {.place = share.place, .content = n};
}

}  // namespace

std::vector<Settings> resolve_memory_shares(const Settings& table, const Runtime& runtime) {
  Settings resolved = table;
  bool has_shares = false;
  for_sizes(resolved.values, [&](const std::string& name, const Value& value) {
    if (share_of(value) == nullptr) return;
    has_shares = true;
    const auto size = std::ranges::find(table.algorithm->parameters, name, &Parameter::name);
    if (size != table.algorithm->parameters.end() && !size->is_length)
      value.refuse("sizes." + name, "of " + table.algorithm->name + " is not the length of an array: give a number");
  });
  if (!has_shares) return {table};
  std::vector<Settings> all;
  for (const Dtype dtype : Axes(table).dtypes()) {
    Settings one = table;
    std::erase_if(one.values, [](const Value::Entry& entry) { return entry.key == "dtypes"; });
    one.values.push_back({"dtypes", {.place = "", .content = std::string(name(dtype))}});
    for_sizes(one.values, [&](const std::string& name, Value& value) {
      const Value* share = share_of(value);
      if (share == nullptr) return;
      const std::string key = "sizes." + name + "." + share_key;
      Value n = length(*share, key, memory_bytes(runtime) / static_cast<double>(size_bytes(dtype)));
      value = std::move(n);
    });
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace league::bench
