// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include "backends/python/process.hpp"
#include "bench/study/case.hpp"

namespace league::bench {

/// Lists the peers of an interpreter and registers them: a method of their own like that of a library, others as a
/// model of the method of the same name. Peers of algorithms that this build lacks are ignored; without an interpreter
/// all are, and a study may still name them (`is_left_out`).
/// @returns for the record: versions of Python and the libraries; null without an interpreter
/// @throws BadInput if the interpreter cannot list them
nlohmann::ordered_json enter_peers(const python::Interpreter& interpreter);

/// Starts processes for the peers of a comparison ahead of their cases, so that they import their libraries side by
/// side: one at once for every two processors, none on one.
void expect_peers(const Comparison& comparison, const Runtime& runtime);

/// Waits until none of them is busy.
void settle_peers();

/// Whether a word is a model or a method of the ignored peers. Without an interpreter their files are read as text.
bool is_left_out(const std::string& word);

/// The folder that holds `backends/python/`: the sources where they are, else that of the executable.
std::filesystem::path default_peers();

}  // namespace league::bench
