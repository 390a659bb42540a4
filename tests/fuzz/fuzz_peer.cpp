// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>

#include "bench/peers/answer.hpp"
#include "tests/fuzz/target.hpp"

// A line that the process of a peer sends: its catalogue, or an answer.
namespace league::bench {
namespace {

/// Reads something of the line. What it refuses, the row of the peer says.
template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const Unsupported&) {
  } catch (const std::invalid_argument&) {
  } catch (const std::runtime_error& error) {
    fuzz::require(valid_utf8(error.what()) == error.what(), "a reason that no record can hold");
  }
}

void feed(const std::string& line) {
  attempt([&] {
    const Catalogue catalogue(line);
    for (const Peer& peer : catalogue.peers) fuzz::require(!text_of(peer.method).empty(), "no name");
    fuzz::require(!text_of(catalogue.facts).empty(), "no facts");
  });
  attempt([&] {
    const Answer answer(line);
    attempt([&] { static_cast<void>(answer.seconds()); });
    attempt([&] { static_cast<void>(answer.digest()); });
    attempt([&] { static_cast<void>(answer.truth("reset_each")); });
    attempt([&] { static_cast<void>(answer.truth("held", false)); });
    attempt([&] { static_cast<void>(answer.words("forms")); });
  });
}

std::vector<std::string> seeds() {
  return {R"({"done": {"reset_each": true, "forms": {"neighbours": "set"}}})",
          R"({"done": {"seconds": 1e-3, "held": false}})",
          R"({"done": {"digest": "18446744073709551615"}})",
          R"({"done": {"digest": null}})",
          R"({"done": null})",
          R"({"unsupported": "no GPU"})",
          R"({"failed": "MemoryError: "})",
          R"({"python": "3.11", "modules": {"numpy": "2.4"}, "peers": [{"algorithm": "knn", "model": "numpy",)"
          R"( "method": "brute", "description": "", "dtypes": ["f32", "u8"], "kind": "host", "units": [["u8", "f32"]],)"
          R"( "problem": "", "split": [], "several": false, "modules": ["numpy"], "unavailable": ""}]})"};
}

std::vector<std::string> words() {
  return {
      "\"done\"",  "\"unsupported\"", "\"failed\"",      "\"reset_each\"", "\"forms\"",       "\"seconds\"", "\"held\"",
      "\"peers\"", "\"algorithm\"",   "\"method\"",      "\"model\"",      "\"description\"", "\"dtypes\"",  "\"kind\"",
      "\"units\"", "\"problem\"",     "\"unavailable\"", "\"f32\"",        "\"gpu\"",         "true",        "null"};
}

const fuzz::RegisterTarget registered{"peer", {feed, seeds, {"bench/peers/answer.cpp"}, words}};

}  // namespace
}  // namespace league::bench
