// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/python/isolation.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace league::python {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t max_visible = 32, max_path = 4096;

void write_text(const char* file, const char* text) {
  const int to = open(file, O_WRONLY | O_CLOEXEC);
  if (to < 0) return;
  static_cast<void>(!write(to, text, std::strlen(text)));
  close(to);
}

/// A user namespace with the same user in it, who may then have the others. Where there are none, root needs none.
void enter_user_namespace() {
  const unsigned user = geteuid(), group = getegid();
  if (unshare(CLONE_NEWUSER) != 0) return;
  std::array<char, 64> text{};
  write_text("/proc/self/setgroups", "deny");
  std::snprintf(text.data(), text.size(), "%u %u 1", user, user);
  write_text("/proc/self/uid_map", text.data());
  std::snprintf(text.data(), text.size(), "%u %u 1", group, group);
  write_text("/proc/self/gid_map", text.data());
}

/// All folders of a path, and at its end a folder or an empty file.
void make_place(const char* path, bool is_folder) {
  std::array<char, max_path> part{};
  for (std::size_t i = 0; path[i] != '\0' && i + 1 < part.size(); ++i) {
    if (path[i] == '/' && i > 0) mkdir(part.data(), 0700);
    part[i] = path[i];
  }
  if (is_folder)
    mkdir(path, 0700);
  else
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

bool is_in(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

/// What a child process answers, an error number each.
struct Tried {
  int network = ECHILD, home = ECHILD;
};

}  // namespace

Isolation::Isolation(fs::path home, const std::vector<fs::path>& needed) {
  std::error_code none;
  home = fs::canonical(home, none);
  if (none || home == home.root_path()) {
    kept_.home = "HOME names no folder";
  } else {
    home_ = home.string();
    for (const fs::path& path : needed) {
      const fs::path real = fs::canonical(path, none);
      if (none) continue;
      needed_.push_back(path.string());
      if (is_in(home, real)) kept_.home = real.string() + " is needed";
      if (is_in(real, home)) visible_.push_back(real.string());
    }
    std::ranges::sort(visible_);  // outer folders first
    const auto repeated = [last = fs::path()](const std::string& path) mutable {
      if (!last.empty() && is_in(path, last)) return true;
      last = path;
      return false;
    };
    std::erase_if(visible_, repeated);
    if (visible_.size() > max_visible) kept_.home = "too much of it is needed";
  }
  std::array<int, 2> pair{-1, -1};
  if (pipe2(pair.data(), O_CLOEXEC) != 0) pair = {-1, -1};
  const pid_t child = fork();
  if (child == 0) {
    enter_user_namespace();
    Tried tried{.network = drop_network(), .home = kept_.home.empty() ? hide_home() : 0};
    if (tried.home == 0 && kept_.home.empty() && !sees_needed()) tried.home = ENOENT;
    static_cast<void>(!write(pair[1], &tried, sizeof(tried)));
    _exit(0);
  }
  close(pair[1]);
  Tried tried;
  static_cast<void>(!read(pair[0], &tried, sizeof(tried)));
  close(pair[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (tried.network != 0) kept_.network = std::strerror(tried.network);
  if (tried.home != 0) kept_.home = std::strerror(tried.home);
}

int Isolation::drop_network() const { return unshare(CLONE_NEWNET) == 0 ? 0 : errno; }

int Isolation::hide_home() const {
  std::array<int, max_visible> files{};
  if (unshare(CLONE_NEWNS) != 0) return errno;
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
  for (std::size_t i = 0; i < visible_.size(); ++i) files[i] = open(visible_[i].c_str(), O_PATH | O_CLOEXEC);
  if (mount("tmpfs", home_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700") != 0) return errno;
  for (std::size_t i = 0; i < visible_.size(); ++i) {
    struct stat facts{};
    if (fstat(files[i], &facts) != 0) return errno;
    make_place(visible_[i].c_str(), S_ISDIR(facts.st_mode));
    std::array<char, 64> from{};
    std::snprintf(from.data(), from.size(), "/proc/self/fd/%d", files[i]);
    if (mount(from.data(), visible_[i].c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) return errno;
    close(files[i]);
  }
  return 0;
}

bool Isolation::sees_needed() const {
  return std::ranges::all_of(needed_, [](const std::string& path) { return access(path.c_str(), F_OK) == 0; });
}

void Isolation::drop() const {
  enter_user_namespace();
  if (kept_.network.empty()) static_cast<void>(drop_network());
  if (kept_.home.empty()) static_cast<void>(hide_home());
  prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN);  // root could take the folder off again
}

}  // namespace league::python
