// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/json.hpp"
#include "bench/peers/peer.hpp"

/// Parses the replies of peer processes. All throw std::runtime_error quoting what is wrong, or std::invalid_argument
/// naming a type that does not exist.
namespace league::bench {

/// The reply of a worker to a call.
class Answer {
 public:
  /// @throws Unsupported, std::runtime_error with the error of the worker
  explicit Answer(const std::string& line);
  [[nodiscard]] double seconds() const;
  /// A number of 64 bits, sent as decimal digits; empty where it is null.
  [[nodiscard]] std::optional<std::uint64_t> digest() const;
  /// Seconds by name. @throws std::runtime_error if they are not
  [[nodiscard]] std::map<std::string, double> times(const char* key) const;
  [[nodiscard]] bool truth(const char* key) const;
  [[nodiscard]] bool truth(const char* key, bool otherwise) const {
    return done_.contains(key) ? truth(key) : otherwise;
  }
  [[nodiscard]] std::map<std::string, std::string> words(const char* key) const;

 private:
  [[noreturn]] void lacks(const std::string& what) const;
  Json done_;
};

/// The peers that an interpreter lists (backends/python/catalogue.py).
struct Catalogue {
  explicit Catalogue(const std::string& line);
  std::vector<Peer> peers;
  Json facts;  ///< for the record: its version and those of the libraries
};

}  // namespace league::bench
