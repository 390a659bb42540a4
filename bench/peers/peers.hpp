// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include "backends/python/process.hpp"

namespace league::bench {

/// Asks an interpreter which peers there are, and registers them: methods of their own as those of a library, others
/// beside the method of the same name. Peers of algorithms that this build lacks are left out; without an interpreter
/// all are, and a study may name them all the same (`is_left_out`).
/// @returns for the record: its version and those of the libraries; null without an interpreter
/// @throws BadInput if it cannot be asked
nlohmann::ordered_json enter_peers(const python::Interpreter& interpreter);

/// Whether a word is a model or a method of the peers that were left out. Their files are read as text: no interpreter
/// is there to be asked.
bool is_left_out(const std::string& word);

/// The folder that holds `backends/python/`: the sources where they are, else that of the executable.
std::filesystem::path standard_peers();

}  // namespace league::bench
