// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dlfcn.h>
#include <nccl.h>

#include <algorithm>
#include <map>
#include <source_location>
#include <string>
#include <vector>

#include "backends/communicator.hpp"

// The engine of NVIDIA's collective library, between the CUDA devices of this process. A group of calls is queued on
// the streams of all devices at once, and can be recorded into a graph.
namespace league::nccl {
namespace {

/// The functions of libnccl.so.2, found when they are first needed: executables start without it.
struct Library {
  decltype(&ncclGetErrorString) error_text = nullptr;
  decltype(&ncclGetVersion) version = nullptr;
  decltype(&ncclCommInitAll) init = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclGroupStart) begin = nullptr;
  decltype(&ncclGroupEnd) end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;

  void check(ncclResult_t result, std::source_location where = std::source_location::current()) const {
    if (result == ncclSuccess) return;
    throw std::runtime_error(std::string("nccl: ") + error_text(result) + " (" + where.file_name() + ":" +
                             std::to_string(where.line()) + "; NCCL_DEBUG=INFO says more)");
  }
};

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

/// Stays open: NCCL's threads and the graphs that hold its kernels may outlast whoever asked for it.
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
    resolve(from, "ncclSend", all.send);
    resolve(from, "ncclRecv", all.receive);
    return all;
  }();
  return loaded;
}

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

/// One rank a device.
class Ranks {
 public:
  explicit Ranks(const std::vector<int>& devices) : all_(devices.size()) {
    library().check(library().init(all_.data(), static_cast<int>(devices.size()), devices.data()));
  }
  ~Ranks() {
    for (ncclComm_t rank : all_) static_cast<void>(library().destroy(rank));
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  [[nodiscard]] ncclComm_t operator[](std::size_t i) const { return all_[i]; }

 private:
  std::vector<ncclComm_t> all_;
};

/// All that were made, by their devices. To make some takes seconds, so that the runtime keeps them.
using KeptRanks = std::map<std::vector<int>, std::unique_ptr<Ranks>>;

const Ranks& ranks_of(Runtime& runtime, std::span<const Shard> shards) {
  std::vector<int> devices;
  for (const Shard& shard : shards) devices.push_back(shard.device.index);
  auto& kept = runtime.attachment<KeptRanks>(shards.front().device, [] { return KeptRanks(); });
  std::unique_ptr<Ranks>& ranks = kept[devices];
  if (!ranks) ranks = std::make_unique<Ranks>(devices);
  return *ranks;
}

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(Runtime& runtime, std::span<const Shard> shards) : ranks_(ranks_of(runtime, shards)) {
    for (const Shard& shard : shards)
      streams_.push_back(static_cast<cudaStream_t>(runtime.queue(shard.device).handle()));
  }

  void sum(std::span<const std::span<double>> buffers) override {
    group(calls_, [&] {
      for (std::size_t i = 0; i < buffers.size(); ++i)
        calls_.check(calls_.all_reduce(buffers[i].data(), buffers[i].data(), buffers[i].size(), ncclFloat64, ncclSum,
                                       ranks_[i], streams_[i]));
    });
  }

  void gather(std::span<const std::span<const std::byte>> pieces, std::span<std::byte> whole) override {
    group(calls_, [&] {
      std::size_t begin = 0;
      for (std::size_t i = 0; i < pieces.size(); begin += pieces[i].size(), ++i) {
        std::byte* to = whole.data() + begin;
        if (pieces[i].empty() || pieces[i].data() == to) continue;
        calls_.check(calls_.send(pieces[i].data(), pieces[i].size(), ncclUint8, 0, ranks_[i], streams_[i]));
        calls_.check(calls_.receive(to, pieces[i].size(), ncclUint8, static_cast<int>(i), ranks_[0], streams_[0]));
      }
    });
  }

 private:
  const Library& calls_ = library();
  const Ranks& ranks_;
  std::vector<cudaStream_t> streams_;
};

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

const RegisterEngine engine{"nccl", DeviceKind::gpu,
                            [](Runtime& runtime, std::span<const Shard> shards) -> std::unique_ptr<Communicator> {
                              return std::make_unique<NcclCommunicator>(runtime, shards);
                            }};

}  // namespace
}  // namespace league::nccl
