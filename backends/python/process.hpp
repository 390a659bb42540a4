// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backends/python/isolation.hpp"

namespace league::python {

/// An interpreter, and the folder that holds `algorithms/` and `backends/python/`.
struct Interpreter {
  std::string python;
  std::filesystem::path root;
  std::shared_ptr<const Isolation> isolation{};  ///< of its processes; none: they see all that this one sees
};

/// `python -m MODULE SOCKET` in a process of its own: lines of text over a socket; its output is kept. It ends, with
/// all its child processes, when this object or this process ends, however that happens (supervisor.py).
class Process {
 public:
  /// There was no answer in time.
  class Silent : public std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  /// Arguments of the new process beside its socket.
  struct Start {
    std::string module{};
    std::vector<int> files{};  ///< descriptors from `first_file` on in the new process
    int threads = 1;           ///< of its libraries
    /// `PROGRAM ... SOCKET` in place of a module: no interpreter and no supervisor.
    std::vector<std::string> program{};
  };
  static constexpr int socket_file = 3, first_file = 4, max_sent_files = 4;

  /// @throws std::runtime_error if the interpreter cannot be started
  Process(const Interpreter& interpreter, const Start& start);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Sends a line, with descriptors that the process gets as its own. What has ended is noticed by `receive`.
  /// @pre at most `max_sent_files`
  void send(std::string_view line, std::span<const int> files = {});
  /// Receives the next line. @throws std::runtime_error if the process has ended, saying how, with the last line of its
  /// stderr; Silent if there is none within `patience_s`
  std::string receive(int patience_s);
  /// Closes the socket and waits until the process has ended. @returns all that it has written to stdout and stderr
  /// @throws Silent if it has not ended within `patience_s`
  std::string finish(int patience_s);
  /// Lets it end, with all its child processes, without waiting.
  void stop();
  /// What it has written so far.
  [[nodiscard]] std::string log() const { return log_from(0); }

 private:
  void read_more(int patience_s);
  bool has_ended();
  [[nodiscard]] std::string message(const std::string& what) const;
  [[nodiscard]] std::string log_from(std::int64_t begin) const;

  std::string name_;
  pid_t process_ = -1;
  int status_ = 0;
  bool ended_ = false;
  int socket_ = -1, log_ = -1;
  std::string received_;
};

}  // namespace league::python
