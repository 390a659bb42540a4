// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nccl.h>

#include <source_location>

namespace league::nccl {

/// The functions of libnccl.so.2, found when they are first needed: executables start without it.
struct Library {
  decltype(&ncclGetErrorString) error_text = nullptr;
  decltype(&ncclGetVersion) version = nullptr;
  decltype(&ncclCommInitAll) init = nullptr;
  decltype(&ncclGetUniqueId) new_id = nullptr;
  decltype(&ncclCommInitRank) init_rank = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclGroupStart) begin = nullptr;
  decltype(&ncclGroupEnd) end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;

  /// @throws std::runtime_error naming the call's place
  void check(ncclResult_t result, std::source_location where = std::source_location::current()) const;
};

/// Stays open: NCCL's threads and the graphs that hold its kernels may outlast whoever asked for it.
/// @throws Unsupported where it is not found, or is too old
const Library& library();

/// Calls that NCCL carries out together; a group that was begun is ended, whatever happens in between.
template <class Body>
void group(const Library& calls, const Body& body) {
  calls.check(calls.begin());
  try {
    body();
  } catch (...) {
    static_cast<void>(calls.end());
    throw;
  }
  calls.check(calls.end());
}

}  // namespace league::nccl
