// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/program.hpp"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

#include "tests/bench/temporary.hpp"

namespace league::tests {
namespace {

std::filesystem::path path_of(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

void redirect(const std::filesystem::path& file, int descriptor) {
  const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(opened, descriptor);
  close(opened);
}

/// Never returns.
void become(const std::string& name, const std::vector<std::string>& arguments) {
  const std::string path = path_of(name).string();
  std::vector<char*> words{const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(path.c_str(), words.data());
  _exit(127);
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

Program::Program(const std::string& name, const std::vector<std::string>& arguments,
                 const std::filesystem::path& folder, const std::function<void()>& prepare)
    : out_(folder / "stdout"), err_(folder / "stderr"), process_(fork()) {
  if (process_ < 0) throw std::runtime_error("cannot fork");
  if (process_ > 0) return;
  redirect(out_, STDOUT_FILENO);
  redirect(err_, STDERR_FILENO);
  if (prepare) prepare();
  become(name, arguments);
}

Program::~Program() {
  if (!running()) return;
  signal(SIGKILL);
  wait();
}

void Program::signal(int number) const { kill(process_, number); }

bool Program::running() {
  if (!ended_ && waitpid(process_, &status_, WNOHANG) == process_) ended_ = true;
  return !ended_;
}

Outcome Program::wait() {
  if (!ended_) waitpid(process_, &status_, 0);
  ended_ = true;
  return {code_of(status_), read_file(out_), read_file(err_)};
}

Outcome run(const std::string& name, const std::vector<std::string>& arguments, const std::filesystem::path& folder,
            const std::function<void()>& prepare) {
  return Program(name, arguments, folder, prepare).wait();
}

Outcome run_with_fault(const std::string& fault, const std::vector<std::string>& arguments,
                       const std::filesystem::path& folder) {
  return run("league_faults", arguments, folder, [&] { setenv("LEAGUE_FAULT", fault.c_str(), 1); });
}

Outcome run_on_terminal(const std::string& name, const std::vector<std::string>& arguments) {
  int terminal = -1;
  const pid_t process = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (process < 0) throw std::runtime_error("cannot make a pseudo-terminal");
  if (process == 0) become(name, arguments);
  Outcome outcome;
  std::array<char, 4096> block{};
  for (ssize_t count = 0; (count = read(terminal, block.data(), block.size())) > 0;)
    outcome.out.append(block.data(), static_cast<std::size_t>(count));
  close(terminal);
  int status = 0;
  waitpid(process, &status, 0);
  outcome.code = code_of(status);
  return outcome;
}

bool has_program(const std::string& name) { return std::filesystem::exists(path_of(name)); }

}  // namespace league::tests
