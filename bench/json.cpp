// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/json.hpp"

#include <fstream>
#include <new>

namespace league::bench {

std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string valid_utf8(const std::string& bytes) { return Json::parse(text_of(bytes)).get<std::string>(); }

std::optional<Json> read_json(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return {};
  try {
    Json json = Json::parse(stream, nullptr, false);
    if (!json.is_discarded()) return json;
  } catch (const std::bad_alloc&) {  // it holds more than this machine
  }
  return {};
}

}  // namespace league::bench
