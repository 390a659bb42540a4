// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/nccl/library.hpp"

#include <memory>
#include <string>

#include "backends/host_limits.hpp"
#include "backends/shared_library.hpp"

namespace league::nccl {
namespace {

#if defined(LEAGUE_NCCL_LIBRARY)
constexpr const char* built_with = LEAGUE_NCCL_LIBRARY;
#else
constexpr const char* built_with = nullptr;
#endif

const RegisterBackend backend{"nccl", 3, [](const Runtime& runtime) -> std::unique_ptr<Backend> {
                                return std::make_unique<LibrarySession>(runtime, [] {
                                  int number = 0;
                                  library().check(library().version(&number));
                                  return number;
                                });
                              }};

}  // namespace

void Library::check(ncclResult_t result, std::source_location where) const {
  if (result == ncclSuccess) return;
  const std::string fault = shared_memory_fault();
  throw std::runtime_error(std::string("nccl: ") + error_text(result) + " (" + where.file_name() + ":" +
                           std::to_string(where.line()) + "; NCCL_DEBUG=INFO shows more" +
                           (fault.empty() ? "" : "; " + fault) + ")");
}

const Library& library() {
  static const Library loaded = [] {
    const SharedLibrary from("libnccl.so.2", built_with);
    Library all;
    from.resolve("ncclGetErrorString", all.error_text);
    from.resolve("ncclGetVersion", all.version);
    from.resolve("ncclCommInitAll", all.init);
    from.resolve("ncclGetUniqueId", all.new_id);
    from.resolve("ncclCommInitRank", all.init_rank);
    from.resolve("ncclCommDestroy", all.destroy);
    from.resolve("ncclCommAbort", all.abort);
    from.resolve("ncclGroupStart", all.begin);
    from.resolve("ncclGroupEnd", all.end);
    from.resolve("ncclAllReduce", all.all_reduce);
    from.resolve("ncclReduce", all.reduce);
    from.resolve("ncclReduceScatter", all.reduce_scatter);
    from.resolve("ncclAllGather", all.all_gather);
    from.resolve("ncclBroadcast", all.broadcast);
    from.resolve("ncclSend", all.send);
    from.resolve("ncclRecv", all.receive);
    return all;
  }();
  return loaded;
}

}  // namespace league::nccl
