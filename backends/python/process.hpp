// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace league::python {

/// An interpreter, and the folder that holds `algorithms/` and `backends/python/`.
struct Interpreter {
  std::string python;
  std::filesystem::path root;
};

/// `python -m MODULE SOCKET` in a process of its own: lines of text over a socket; its output is kept. It ends, with
/// all its child processes, when this object or this process ends, however that happens (supervisor.py).
class Process {
 public:
  /// Arguments of the new process beside its socket.
  struct Start {
    std::string module;
    std::vector<int> files{};  ///< descriptors from `first_file` on in the new process
    int threads = 1;           ///< of its libraries
  };
  static constexpr int socket_file = 3, first_file = 4;

  /// @throws std::runtime_error if the interpreter cannot be started
  Process(const Interpreter& interpreter, const Start& start);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Sends a line. @throws std::runtime_error if the process has ended, saying how, with the last line of its stderr
  void send(std::string_view line);
  /// Receives the next line. @throws as `send`, and if there is none within `patience_s`
  std::string receive(int patience_s);

 private:
  void read_more(int patience_s);
  bool has_ended();
  [[noreturn]] void fail(const std::string& what) const;
  [[nodiscard]] std::string last_words() const;

  pid_t process_ = -1;
  int status_ = 0;
  bool ended_ = false;
  int socket_ = -1, log_ = -1;
  std::string received_;
};

}  // namespace league::python
