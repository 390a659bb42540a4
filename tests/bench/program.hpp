// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace league::tests {

/// A study of a moment: two models, two sizes.
inline const std::string small_study = R"(algorithm = "vector_add"
methods = "plain"
models = ["serial", "openmp"]
sizes = [10, 1000]
samples = 3
null = false
)";

/// What a program left.
struct Outcome {
  int code = -1;  ///< exit code; 128 + signal if one ended it
  std::string out, err;
};

/// An executable of this build, run as a user would; output goes to files in `folder`.
class Program {
 public:
  /// `name`: "league", "league_faults", beside this test program. `prepare` runs in the new process before it.
  Program(const std::string& name, const std::vector<std::string>& arguments, const std::filesystem::path& folder,
          const std::function<void()>& prepare = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void signal(int number) const;
  [[nodiscard]] bool running();
  Outcome wait();

 private:
  std::filesystem::path out_, err_;
  pid_t process_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

Outcome run(const std::string& name, const std::vector<std::string>& arguments, const std::filesystem::path& folder,
            const std::function<void()>& prepare = {});

/// Runs `league_faults` with a fault planted in all of its variants: a name of tests/faults/.
Outcome run_with_fault(const std::string& fault, const std::vector<std::string>& arguments,
                       const std::filesystem::path& folder);

/// Runs a program with a pseudo-terminal as its output. @returns its exit code and all that it wrote (in `out`)
Outcome run_on_terminal(const std::string& name, const std::vector<std::string>& arguments);

/// Whether this build has that executable.
bool has_program(const std::string& name);

}  // namespace league::tests
