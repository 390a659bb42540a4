// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/python/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "backends/python/start.hpp"

namespace league::python {
namespace {

constexpr std::size_t longest_message = 300;
constexpr int looks_per_second = 20;
constexpr auto patience_at_end = std::chrono::seconds(5);

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* why = signal == SIGSEGV || signal == SIGBUS ? " (illegal access)" : "";
    return std::string("was ended by: ") + strsignal(signal) + why;
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

/// The last line of a text that is not empty; UTF-8 characters cut at its ends are dropped.
std::string last_line(std::string text) {
  const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; };
  text.erase(text.find_last_not_of(" \n\r\t") + 1);
  text.erase(0, text.rfind('\n') + 1);
  text.erase(text.begin(), std::ranges::find_if_not(text, continues));
  text.resize(std::min(text.size(), longest_message));
  const auto first = std::find_if_not(text.rbegin(), text.rend(), continues);  // byte of the last character
  if (first == text.rend()) return text;
  const auto there = first - text.rbegin() + 1;
  if (there < std::countl_one(static_cast<unsigned char>(*first))) text.erase(text.end() - there, text.end());
  return text;
}

/// Without the stack that Kokkos::abort writes behind its reason.
std::string without_stack(std::string text) {
  for (const char* heading : {"\nBacktrace:\n", "\nTraceback functionality not available\n"})
    text.resize(std::min(text.size(), text.rfind(heading)));
  return text;
}

}  // namespace

Process::Process(const Interpreter& interpreter, const Start& start)
    : name_(start.program.empty() ? "its Python process" : "its process"), log_(memfd_create("log", MFD_CLOEXEC)) {
  std::array<int, 2> pair{-1, -1};
  if (log_ < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    throw std::runtime_error("no socket for " + name_ + ": " + std::strerror(errno));
  socket_ = pair[0];
  std::vector<int> files{-1, log_, log_, pair[1]};
  files.insert(files.end(), start.files.begin(), start.files.end());
  process_ = start_process(interpreter, start, files);
  close(pair[1]);
  if (process_ < 0) throw std::runtime_error("cannot start " + name_ + ": " + std::strerror(errno));
}

void Process::stop() {
  if (!has_ended()) kill(process_, SIGTERM);  // its supervisor kills all its child processes
}

Process::~Process() {
  stop();
  const auto deadline = std::chrono::steady_clock::now() + patience_at_end;
  while (!has_ended() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(-process_, SIGKILL);  // the supervisor if it hangs, and its processes if it was killed
  while (!ended_ && waitpid(process_, &status_, 0) < 0 && errno == EINTR) {
  }
  close(socket_);
  close(log_);
}

bool Process::has_ended() {
  if (!ended_) ended_ = waitpid(process_, &status_, WNOHANG) == process_;
  return ended_;
}

std::string Process::log_from(std::int64_t begin) const {
  const std::int64_t size = lseek(log_, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::max<std::int64_t>(0, size - begin)), '\0');
  const ssize_t count = pread(log_, text.data(), text.size(), begin);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  return text;
}

/// With the last line of its output.
std::string Process::message(const std::string& what) const {
  constexpr std::int64_t with_stack = 65536;  // it has long lines
  constexpr std::size_t end = 4096;
  const std::string text = without_stack(log_from(std::max<std::int64_t>(0, lseek(log_, 0, SEEK_END) - with_stack)));
  const std::string words = last_line(text.substr(text.size() - std::min(text.size(), end)));
  return name_ + " " + what + (words.empty() ? "" : "; it said last: " + words);
}

void Process::send(std::string_view line, std::span<const int> files) {
  std::string text = std::string(line) + "\n";
  alignas(cmsghdr) std::array<char, CMSG_SPACE(max_sent_files * sizeof(int))> control{};
  for (std::size_t sent = 0; sent < text.size();) {
    iovec rest{text.data() + sent, text.size() - sent};
    msghdr message{};
    message.msg_iov = &rest;
    message.msg_iovlen = 1;
    if (!files.empty() && sent == 0) {  // with the first byte
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(files.size_bytes());
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(files.size_bytes());
      std::memcpy(CMSG_DATA(header), files.data(), files.size_bytes());
    }
    const ssize_t count = sendmsg(socket_, &message, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;  // it has ended: `receive` reports how
    sent += static_cast<std::size_t>(count);
  }
}

void Process::read_more(int patience_s) {
  std::array<char, 65536> text{};
  for (int waited = 0; waited < patience_s * looks_per_second; ++waited) {
    const bool ended = has_ended();  // checked first: all that it sent before has arrived
    pollfd waiting{socket_, POLLIN, 0};
    if (poll(&waiting, 1, ended ? 0 : 1000 / looks_per_second) > 0) {
      const ssize_t count = recv(socket_, text.data(), text.size(), 0);
      if (count > 0) {
        received_.append(text.data(), static_cast<std::size_t>(count));
        return;
      }
      std::this_thread::sleep_for(
          std::chrono::milliseconds(1000 / looks_per_second));  // it closes the socket before it ends
    }
    if (ended) throw std::runtime_error(message(how_it_ended(status_)));
  }
  throw Silent(message("has not answered for " + std::to_string(patience_s) + " s"));
}

std::string Process::finish(int patience_s) {
  shutdown(socket_, SHUT_RDWR);
  for (int waited = 0; !has_ended(); ++waited) {
    if (waited == patience_s * looks_per_second)
      throw Silent(message("has not ended for " + std::to_string(patience_s) + " s"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1000 / looks_per_second));
  }
  return log();
}

std::string Process::receive(int patience_s) {
  while (received_.find('\n') == std::string::npos) read_more(patience_s);
  const std::size_t end = received_.find('\n');
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

}  // namespace league::python
