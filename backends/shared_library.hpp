// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dlfcn.h>

#include <string>

#include "backends/runtime.hpp"

namespace league {

/// A library opened at run time, so that executables start without it. Never closed: its threads and graphs may outlive
/// the caller.
class SharedLibrary {
 public:
  /// Whether its symbols, and those of its dependencies, are visible to libraries opened later, such as its plugins.
  enum class Symbols { local = RTLD_LOCAL, shared = RTLD_GLOBAL };

  /// Searches as the loader does, then at `built_with`, its path at build time; null: nowhere.
  /// @throws Unsupported
  SharedLibrary(std::string name, const char* built_with, Symbols symbols = Symbols::local)
      : name_(std::move(name)), handle_(dlopen(name_.c_str(), RTLD_NOW | static_cast<int>(symbols))) {
    if (handle_ == nullptr && built_with != nullptr) handle_ = dlopen(built_with, RTLD_NOW | static_cast<int>(symbols));
    if (handle_ == nullptr) throw Unsupported(name_ + " is not on this machine, or not in LD_LIBRARY_PATH");
  }
  /// @throws Unsupported if it lacks the function
  template <class Function>
  void resolve(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) throw Unsupported(name_ + " is too old: it has no " + name);
  }

 private:
  std::string name_;
  void* handle_;
};

/// A library for GPUs in lists and records: its version, or why it is missing.
class LibrarySession final : public Backend {
 public:
  /// `version()`: 10000 major + 100 minor + patch. @throws as `version`, except Unsupported
  template <class Version>
  LibrarySession(const Runtime& runtime, const Version& version) {
    if (runtime.gpus().empty()) {
      unavailable_ = "no GPU answers";
      return;
    }
    try {
      const auto number = version();
      version_ = std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
                 std::to_string(number % 100);
    } catch (const Unsupported& reason) {
      unavailable_ = reason.what();
    }
  }
  [[nodiscard]] std::string version() const override { return version_; }
  [[nodiscard]] std::string unavailable() const override { return unavailable_; }

 private:
  std::string version_, unavailable_;
};

}  // namespace league
