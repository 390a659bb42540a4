// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dlfcn.h>

#include <string>

#include "backends/backend.hpp"

namespace league {

/// A library that is opened at run time, so that executables start without it. It stays open: threads and graphs of its
/// own may outlast whoever asked for it.
class SharedLibrary {
 public:
  /// Looks where the loader does, then at `built_with`, where the library was when this was built; null: nowhere.
  /// @throws Unsupported
  SharedLibrary(std::string name, const char* built_with)
      : name_(std::move(name)), handle_(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr && built_with != nullptr) handle_ = dlopen(built_with, RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw Unsupported(name_ + " is not on this machine, or not in LD_LIBRARY_PATH");
  }
  /// @throws Unsupported where it lacks the function
  template <class Function>
  void resolve(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) throw Unsupported(name_ + " is too old: it has no " + name);
  }

 private:
  std::string name_;
  void* handle_;
};

}  // namespace league
