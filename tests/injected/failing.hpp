// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dlfcn.h>

#include <cerrno>
#include <cstddef>

/// A library that stands before the C library (LD_PRELOAD) and lets calls of a program fail, so that tests see what it
/// makes of that. Variables, each of the preloaded process only:
/// - LEAGUE_FAIL="write:17" the 17th call of its kind in main, "write:17+" that and all later ones, "write@00f3..." the
///   first of a call stack;
/// - LEAGUE_KILL="rename:3": SIGKILL in the place of that call;
/// - LEAGUE_JUMP=-3600 with LEAGUE_FAIL="realtime:200+": from the 200th reading on that clock is an hour late;
/// - LEAGUE_CALLS=FILE: nothing fails; a line for every new call stack, "write 17 00f3...": the kind, the number of the
///   call, the stack; and at the end one for each kind, "total write 25".
namespace league::injected {

/// `cuda`: a call of CUDA's run-time library, by cuda_calls.cu. `illegal`: a kernel launch, before which another
/// kernel writes where it may not. `peers`: a copy between GPUs that is reported and does not happen.
enum Kind : std::size_t {
  allocation,
  writing,
  renaming,
  syncing,
  forking,
  receiving,
  cuda,
  illegal,
  peers,
  realtime,
  monotonic,
  kinds
};

/// Whether the call of this kind that is being made is the one to fail.
bool fails(Kind kind);

/// The function of that name in the libraries behind this one; its own calls are not counted.
void* next_of(const char* name);
template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(next_of(name));
}

template <class Result>
Result failed(int error, Result result) {
  errno = error;
  return result;
}

}  // namespace league::injected
