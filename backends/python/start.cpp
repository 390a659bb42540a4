// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/python/start.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>

#include "backends/places.hpp"

namespace league::python {
namespace {

constexpr int max_files = 16;

/// Variables of thread binding, which would bind all threads of a library to the first processor; and one that reduces
/// the number of threads under load.
constexpr std::array dropped{"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_DYNAMIC"};

/// Variables by which a library does not compile, does not optimise, or simulates a GPU; and by which Python checks
/// itself.
constexpr std::array slowing{"NUMBA_DISABLE_JIT",    "NUMBA_OPT",        "NUMBA_BOUNDSCHECK",
                             "NUMBA_ENABLE_CUDASIM", "JAX_DISABLE_JIT",  "TORCHDYNAMO_DISABLE",
                             "PYTORCH_JIT",          "TRITON_INTERPRET", "TORCH_COMPILE_DISABLE",
                             "PYTHONDEVMODE",        "PYTHONMALLOC",     "PYTHONTRACEMALLOC"};

std::vector<std::string> environment_of(const Interpreter& interpreter, const Process::Start& start) {
  std::vector<std::pair<std::string, std::string>> changed{{"PYTHONSAFEPATH", "1"}, {"PYTHONDONTWRITEBYTECODE", "1"}};
  const char* path = std::getenv("PYTHONPATH");
  const std::string root = std::filesystem::absolute(interpreter.root).string();
  changed.emplace_back("PYTHONPATH", root + (path != nullptr ? ":" + std::string(path) : ""));
  for (const char* library : {"OMP", "OPENBLAS", "MKL", "NUMBA"})
    changed.emplace_back(std::string(library) + "_NUM_THREADS", std::to_string(start.threads));
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view key = text.substr(0, text.find('='));
    const bool replaced = std::ranges::find(changed, key, &decltype(changed)::value_type::first) != changed.end();
    const bool bound = !start.program.empty() || std::ranges::find(dropped, key) == dropped.end();
    const bool slows = std::ranges::find(slowing, key) != slowing.end();
    if (!replaced && !slows && bound) variables.emplace_back(text);
  }
  for (const auto& [key, value] : changed) variables.push_back(key + "=" + value);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Moves descriptors to 0, 1, 2, ..., first to free numbers above. Only async-signal-safe calls (after fork).
void place(std::span<const int> files) {
  std::array<int, max_files> moved{};
  for (std::size_t i = 0; i < files.size(); ++i)
    moved[i] = files[i] < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : files[i];
  for (std::size_t i = 0; i < files.size(); ++i) moved[i] = fcntl(moved[i], F_DUPFD_CLOEXEC, max_files);
  for (std::size_t i = 0; i < files.size(); ++i) dup2(moved[i], static_cast<int>(i));
}

}  // namespace

std::string ignored_variables() {
  std::string found;
  for (const char* variable : slowing)
    if (const char* value = std::getenv(variable); value != nullptr)
      found += (found.empty() ? "" : " ") + std::string(variable) + "=" + value;
  return found;
}

pid_t start_process(const Interpreter& interpreter, const Process::Start& start, std::span<const int> files) {
  std::string python = interpreter.python;  // links are not resolved: a virtual environment is recognised by its path
  if (python.find('/') != std::string::npos) python = std::filesystem::absolute(python).string();
  std::vector<std::string> words{python, "-m", "backends.python.supervisor", start.module};
  if (!start.program.empty()) words = start.program;
  words.push_back(std::to_string(Process::socket_file));
  std::vector<std::string> variables = environment_of(interpreter, start);
  const std::vector<char*> arguments = pointers_to(words), environment = pointers_to(variables);
  const std::string failure = "cannot start " + words.front();
  const cpu_set_t processors = all_processors();
  sigset_t none;
  sigemptyset(&none);
  rlimit memory{};
  getrlimit(RLIMIT_DATA, &memory);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) {
    if (child > 0) setpgid(child, child);  // in both processes, to avoid a race
    return child;
  }
  setpgid(0, 0);
  if (interpreter.isolation) interpreter.isolation->drop();  // first: it may reset what follows
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // both persist across exec
  if (getppid() != parent) _exit(1);
  if (CPU_COUNT(&processors) > 0) sched_setaffinity(0, sizeof(processors), &processors);
  if (!start.program.empty()) {  // a sanitizer maps more than there is
    memory.rlim_cur = memory.rlim_max;
    setrlimit(RLIMIT_DATA, &memory);
  }
  place(files);
  if (chdir(interpreter.root.c_str()) == 0) {
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execvpe(arguments.front(), arguments.data(), environment.data());
  }
  static_cast<void>(!write(STDERR_FILENO, failure.data(), failure.size()));
  _exit(127);
}

}  // namespace league::python
