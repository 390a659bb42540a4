// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nccl.h>

#include <source_location>

namespace league::nccl {

/// The functions of libnccl.so.2, loaded at first use: executables start without it.
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

/// Never closed: NCCL's threads and graphs with its kernels may outlive the caller.
/// @throws Unsupported if it is not found or too old
const Library& library();

/// A group of NCCL calls (RAII): always ended, also by exceptions.
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
