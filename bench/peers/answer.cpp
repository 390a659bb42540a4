// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/answer.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace league::bench {
namespace {

std::string quote(const std::string& text) {
  constexpr std::size_t max_length = 100;
  return valid_utf8(text.substr(0, max_length));
}

/// A line that a process sends. @throws std::runtime_error if it is no object
Json object_of(const std::string& line) {
  std::optional<Json> json = parse_json(line);
  if (!json || !json->is_object()) throw std::runtime_error("its process answers no JSON: " + quote(line));
  return *std::move(json);
}

bool all_words(const Json& list) { return std::ranges::all_of(list, &Json::is_string); }

Peer peer_from(const Json& entry) {
  const auto require = [&](bool right, const char* key, const char* type) {
    if (!right)
      throw std::runtime_error(std::string("`") + key + "` of a peer is not " + type + ": " + quote(text_of(entry)));
  };
  const auto field = [&](const char* key) { return entry.is_object() ? entry.value(key, Json()) : Json(); };
  const auto text = [&](const char* key) {
    const Json value = field(key);
    require(value.is_string(), key, "a string");
    return value.get<std::string>();
  };
  Peer peer{.algorithm = text("algorithm"),
            .method = text("method"),
            .model = text("model"),
            .description = text("description"),
            .problem = text("problem"),
            .kind = text("kind") == "gpu" ? DeviceKind::gpu : DeviceKind::host,
            .unavailable = text("unavailable")};
  const Json units = field("units"), dtypes = field("dtypes"), split = field("split"), several = field("several");
  const auto is_pair = [](const Json& unit) { return unit.is_array() && unit.size() == 2 && all_words(unit); };
  require(units.is_array() && std::ranges::all_of(units, is_pair), "units", "a list of pairs of strings");
  require(dtypes.is_array() && all_words(dtypes), "dtypes", "a list of strings");
  require(split.is_array() && all_words(split), "split", "a list of strings");
  require(several.is_boolean(), "several", "true or false");
  peer.several = several.get<bool>() || !split.empty();
  for (const Json& pair : units) peer.units[dtype_from(pair[0].get<std::string>())] = pair[1];
  for (const Json& dtype : dtypes) peer.dtypes.push_back(dtype_from(dtype.get<std::string>()));
  return peer;
}

}  // namespace

Answer::Answer(const std::string& line) {
  const Json reply = object_of(line);
  const auto says = [&](const char* key) { return reply.contains(key) && reply[key].is_string(); };
  if (says("unsupported")) throw Unsupported(reply["unsupported"].get<std::string>());
  if (says("failed")) throw std::runtime_error(reply["failed"].get<std::string>());
  if (!reply.contains("done"))
    throw std::runtime_error("its process answers neither `done` nor why not: " + quote(line));
  done_ = reply["done"];
}

double Answer::seconds() const {
  if (!done_.contains("seconds") || !done_["seconds"].is_number()) lacks("`seconds`");
  return done_["seconds"].get<double>();
}

std::optional<std::uint64_t> Answer::digest() const {
  if (!done_.contains("digest")) lacks("`digest`");
  const Json& digest = done_["digest"];
  if (digest.is_null()) return {};
  const std::string digits = digest.is_string() ? digest.get<std::string>() : "";
  std::uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || rest != end) lacks("digits as `digest`");
  return number;
}

bool Answer::truth(const char* key) const {
  if (!done_.contains(key) || !done_[key].is_boolean()) lacks(std::string("true or false as `") + key + "`");
  return done_[key].get<bool>();
}

std::map<std::string, std::string> Answer::words(const char* key) const {
  const Json words = done_.is_object() ? done_.value(key, Json()) : Json();
  if (!words.is_object() || !all_words(words)) lacks(std::string("words as `") + key + "`");
  return words.get<std::map<std::string, std::string>>();
}

std::map<std::string, double> Answer::times(const char* key) const {
  const Json times = done_.is_object() ? done_.value(key, Json()) : Json();
  const auto is_time = [](const Json& one) { return one.is_number() && one.get<double>() >= 0; };
  if (!times.is_object() || !std::ranges::all_of(times, is_time)) lacks(std::string("times as `") + key + "`");
  return times.get<std::map<std::string, double>>();
}

void Answer::lacks(const std::string& what) const {
  throw std::runtime_error("its process answers without " + what + ": " + quote(text_of(done_)));
}

Catalogue::Catalogue(const std::string& line) {
  const Json all = object_of(line);
  const Json entries = all.value("peers", Json());
  if (!entries.is_array()) throw std::runtime_error("it has no list `peers`: " + quote(line));
  for (const Json& entry : entries) peers.push_back(peer_from(entry));
  facts = {{"python", all.value("python", Json())}, {"modules", all.value("modules", Json())}};
}

}  // namespace league::bench
