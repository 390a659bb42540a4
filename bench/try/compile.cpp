// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/try/compile.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "bench/errors.hpp"
#include "bench/try/text.hpp"

namespace league::bench {
namespace {

/// A word of a shell command.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
  return text + "'";
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

void compile(const Compilation& what) {
  if (!std::filesystem::exists(what.script))
    throw BadInput(what.file + ": no " + what.script.string() +
                   ": this build has no such runtime, was carried here without its compile commands, or its target "
                   "league_try was not built");
  const std::filesystem::path log = what.program.string() + ".log";
  std::vector<std::string> words{"LINKED=" + quoted(listed(what.linked, " ")), "sh", quoted(what.script.string()),
                                 quoted(what.source.string()), quoted(what.program.string())};
  for (const std::string& flag : what.flags) words.push_back(quoted(flag));
  words.push_back(">" + quoted(log.string()) + " 2>&1");
  const int status = std::system(listed(words, " ").c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  throw BadInput(what.file + " does not compile:\n" + read_text(log));
}

}  // namespace league::bench
