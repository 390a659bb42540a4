// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/try/text.hpp"

#include <cctype>
#include <sstream>

namespace league::bench {
namespace {

bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

}  // namespace

std::string with_identifiers(const std::string& text, const std::function<std::string(const std::string&)>& change) {
  std::string changed;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    changed += end > at ? change(text.substr(at, end - at)) : text.substr(at, 1);
    at = end > at ? end : at + 1;
  }
  return changed;
}

bool mentions(const std::string& text, const std::string& identifier) {
  bool found = false;
  with_identifiers(text, [&](const std::string& word) {
    found = found || word == identifier;
    return word;
  });
  return found;
}

std::string indented(const std::string& text, int spaces) {
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);)
    all += (line.empty() ? "" : std::string(static_cast<std::size_t>(spaces), ' ') + line) + "\n";
  return all;
}

std::string listed(const std::vector<std::string>& words, const std::string& between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : between) + word;
  return all;
}

}  // namespace league::bench
