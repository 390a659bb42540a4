// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/nccl/library.hpp"

#include <dlfcn.h>

#include <string>

#include "backends/runtime.hpp"

namespace league::nccl {
namespace {

/// Where the loader looks, and where it was when this was built. @throws Unsupported
void* open_library() {
  void* found = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
#if defined(LEAGUE_NCCL_LIBRARY)
  if (found == nullptr) found = dlopen(LEAGUE_NCCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
#endif
  if (found == nullptr) throw Unsupported("libnccl.so.2 is not on this machine, or not in LD_LIBRARY_PATH");
  return found;
}

template <class Function>
void resolve(void* from, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(from, name));
  if (function == nullptr) throw Unsupported(std::string("libnccl.so.2 is too old: it has no ") + name);
}

/// For lists and records.
class Session final : public Backend {
 public:
  explicit Session(const Runtime& runtime) {
    if (runtime.gpus().empty()) {
      unavailable_ = "no GPU answers";
      return;
    }
    try {
      int number = 0;
      library().check(library().version(&number));
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

const RegisterBackend backend{
    "nccl", 3, [](const Runtime& runtime) -> std::unique_ptr<Backend> { return std::make_unique<Session>(runtime); }};

}  // namespace

void Library::check(ncclResult_t result, std::source_location where) const {
  if (result == ncclSuccess) return;
  throw std::runtime_error(std::string("nccl: ") + error_text(result) + " (" + where.file_name() + ":" +
                           std::to_string(where.line()) + "; NCCL_DEBUG=INFO says more)");
}

const Library& library() {
  static const Library loaded = [] {
    void* from = open_library();
    Library all;
    resolve(from, "ncclGetErrorString", all.error_text);
    resolve(from, "ncclGetVersion", all.version);
    resolve(from, "ncclCommInitAll", all.init);
    resolve(from, "ncclCommDestroy", all.destroy);
    resolve(from, "ncclGroupStart", all.begin);
    resolve(from, "ncclGroupEnd", all.end);
    resolve(from, "ncclAllReduce", all.all_reduce);
    resolve(from, "ncclReduce", all.reduce);
    resolve(from, "ncclReduceScatter", all.reduce_scatter);
    resolve(from, "ncclAllGather", all.all_gather);
    resolve(from, "ncclBroadcast", all.broadcast);
    resolve(from, "ncclSend", all.send);
    resolve(from, "ncclRecv", all.receive);
    return all;
  }();
  return loaded;
}

}  // namespace league::nccl
