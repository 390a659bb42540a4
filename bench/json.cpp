// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/json.hpp"

#include <fstream>
#include <new>
#include <utility>

namespace league::bench {
namespace {

template <class Source>
std::optional<Json> parsed(Source&& source) {
  constexpr int max_depth = 100;
  bool too_deep = false;
  const auto look = [&](int depth, Json::parse_event_t event, const Json& /*value*/) {
    const bool begins = event == Json::parse_event_t::array_start || event == Json::parse_event_t::object_start;
    too_deep = too_deep || (begins && depth >= max_depth);
    return !too_deep;
  };
  Json json = Json::parse(std::forward<Source>(source), look, false);
  if (json.is_discarded() || too_deep) return {};
  return std::make_optional(std::move(json));
}

}  // namespace

std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string valid_utf8(const std::string& bytes) { return Json::parse(text_of(bytes)).get<std::string>(); }

std::optional<Json> parse_json(std::string_view text) { return parsed(text); }

std::optional<Json> read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return {};
  try {
    return parsed(stream);
  } catch (const std::bad_alloc&) {  // larger than the memory
  }
  return {};
}

}  // namespace league::bench
