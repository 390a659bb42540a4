// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/mpi/ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "backends/shared_library.hpp"

namespace league::mpi {
namespace {

constexpr int notice_tag = 2, data_tag = 3;
constexpr std::int64_t max_bytes = std::int64_t{1} << 30;  // per message: MPI counts are int

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// Counts and displacements of MPI.
struct Pieces {
  explicit Pieces(std::span<const std::int64_t> all) : lengths(all.begin(), all.end()), offsets(all.size()) {
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  }
  std::vector<int> lengths, offsets;
};

std::int64_t sum(std::span<const std::int64_t> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

MpiRanks::MpiRanks(const Calls& calls, const World& world, Place place)
    : Ranks(std::move(place)),
      calls_(calls),
      everyone_(calls.everyone()),
      control_(calls.duplicate(everyone_)),
      step_group_(calls.duplicate(everyone_)) {
  hosts_ = texts(this->place().host);
  Group* pulse = calls.duplicate(everyone_);
  if (world.several_threads && world.size > 1)
    heartbeat_ = std::make_unique<Heartbeat>(calls, pulse, hosts_, world.rank);
}

MpiRanks::~MpiRanks() {
  if (step_ != finished) abort(1);  // the others would hang
  heartbeat_.reset();
  alarm(static_cast<unsigned>(Heartbeat::limit_s));  // ends this process if a rank never arrives
  calls_.finish();
  alarm(0);
}

void MpiRanks::abort(int exit_code) {
  calls_.abort(exit_code);
  std::_Exit(exit_code);
}

void MpiRanks::finish() {
  static_cast<void>(agree("", End::well));
  step_ = finished;
}

bool MpiRanks::another_failed() {
  for (int from = calls_.sender(control_, notice_tag); from >= 0; from = calls_.sender(control_, notice_tag)) {
    int step = 0;
    Request* request = calls_.receive(control_, &step, sizeof step, from, notice_tag);
    while (!calls_.test(request)) std::this_thread::yield();
    failed_step_ = std::max(failed_step_, step);
  }
  return failed_step_ >= step_;
}

void MpiRanks::check() {
  if (another_failed()) throw RankFailed("another rank failed");
}

void MpiRanks::wait(std::vector<Request*> requests, std::vector<Bytes>& buffers) {
  for (int turn = 1; !requests.empty(); ++turn) {
    std::erase_if(requests, [this](Request* request) { return calls_.test(request); });
    if (requests.empty()) return;
    if (turn % 64 == 0) std::this_thread::yield();
    if (turn % 256 != 0 || !another_failed()) continue;
    abandoned_.push_back(std::move(buffers));
    throw RankFailed("another rank failed");
  }
}

void MpiRanks::barrier() {
  std::vector<Bytes> none;
  wait({calls_.barrier(step_group_)}, none);
}

void MpiRanks::broadcast(std::span<std::byte> bytes, int from) {
  while (!bytes.empty()) {
    const auto now = bytes.first(static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(bytes), max_bytes)));
    std::vector<Bytes> buffers{copy_of(now)};
    wait({calls_.broadcast(step_group_, buffers[0].data(), static_cast<int>(now.size()), from)}, buffers);
    std::ranges::copy(buffers[0], now.begin());
    bytes = bytes.subspan(now.size());
  }
}

void MpiRanks::all_reduce(void* data, std::int64_t size, Dtype type) {
  const Type of = type == Dtype::f32   ? Type::f32
                  : type == Dtype::f64 ? Type::f64
                  : type == Dtype::i32 ? Type::i32
                                       : Type::i64;
  const auto unit = static_cast<std::int64_t>(size_bytes(type));
  std::span<std::byte> rest(static_cast<std::byte*>(data), static_cast<std::size_t>(size * unit));
  while (!rest.empty()) {
    const auto now = rest.first(static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(rest), max_bytes)));
    std::vector<Bytes> buffers{copy_of(now)};
    wait({calls_.all_reduce(step_group_, buffers[0].data(), static_cast<int>(std::ssize(now) / unit), of,
                            Operation::sum)},
         buffers);
    std::ranges::copy(buffers[0], now.begin());
    rest = rest.subspan(now.size());
  }
}

void MpiRanks::all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                          std::span<const std::int64_t> lengths) {
  if (sum(lengths) > max_bytes) {
    std::int64_t begin = 0;
    for (int from = 0; from < place().size; ++from) {
      const auto piece = all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(lengths[from]));
      if (from == place().rank) std::memmove(piece.data(), mine.data(), piece.size());
      broadcast(piece, from);
      begin += lengths[from];
    }
    return;
  }
  const Pieces pieces(lengths);
  std::vector<Bytes> buffers{copy_of(mine), Bytes(static_cast<std::size_t>(sum(lengths)))};
  wait({calls_.all_gather(step_group_, buffers[0].data(), static_cast<int>(mine.size()), buffers[1].data(),
                          pieces.lengths.data(), pieces.offsets.data())},
       buffers);
  std::ranges::copy(buffers[1], all.begin());
}

void MpiRanks::all_to_all(std::span<const std::byte> out, std::span<const std::int64_t> out_lengths,
                          std::span<std::byte> in, std::span<const std::int64_t> in_lengths) {
  if (std::ranges::max(values(std::max(sum(out_lengths), sum(in_lengths)))) > max_bytes) {
    std::vector<Message> sent, received;
    auto* from = const_cast<std::byte*>(out.data());
    std::byte* to = in.data();
    for (int peer = 0; peer < place().size; ++peer) {
      sent.push_back({peer, {from, static_cast<std::size_t>(out_lengths[peer])}});
      received.push_back({peer, {to, static_cast<std::size_t>(in_lengths[peer])}});
      from += out_lengths[peer];
      to += in_lengths[peer];
    }
    return exchange(sent, received);
  }
  const Pieces to(out_lengths), from(in_lengths);
  std::vector<Bytes> buffers{copy_of(out), Bytes(in.size())};
  wait({calls_.all_to_all(step_group_, buffers[0].data(), to.lengths.data(), to.offsets.data(), buffers[1].data(),
                          from.lengths.data(), from.offsets.data())},
       buffers);
  std::ranges::copy(buffers[1], in.begin());
}

void MpiRanks::exchange(std::span<const Message> out, std::span<const Message> in) {
  std::vector<Bytes> buffers;
  for (const Message& message : out) buffers.push_back(copy_of(message.bytes));
  for (const Message& message : in) buffers.emplace_back(message.bytes.size());
  std::vector<Request*> requests;
  const auto start = [&](const Message& message, Bytes& buffer, const auto& call) {
    for (std::int64_t at = 0; at < std::ssize(buffer); at += max_bytes)
      requests.push_back(call(step_group_, buffer.data() + at,
                              static_cast<int>(std::min(max_bytes, std::ssize(buffer) - at)), message.peer, data_tag));
  };
  for (std::size_t i = 0; i < out.size(); ++i) start(out[i], buffers[i], calls_.send);
  for (std::size_t i = 0; i < in.size(); ++i) start(in[i], buffers[out.size() + i], calls_.receive);
  wait(std::move(requests), buffers);
  for (std::size_t i = 0; i < in.size(); ++i) std::ranges::copy(buffers[out.size() + i], in[i].bytes.begin());
}

void MpiRanks::notify() {
  for (int peer = 0; peer < place().size; ++peer) {
    if (peer == place().rank) continue;
    static_assert(sizeof step_ == sizeof(int));
    std::vector<Bytes> buffer{copy_of(std::as_bytes(std::span(&step_, 1)))};
    Request* request = calls_.send(control_, buffer[0].data(), sizeof step_, peer, notice_tag);
    while (!calls_.test(request)) std::this_thread::yield();  // small enough to be sent eagerly
  }
}

std::vector<std::string> MpiRanks::agree(std::string mine, End end) {
  if (end != End::well) notify();
  Group* step_group = std::exchange(step_group_, everyone_);
  const int next = std::exchange(step_, between_steps) + 1;
  const std::vector<std::string> all = texts(static_cast<char>(end) + std::move(mine));
  const auto ended = [&](End how) {
    return std::ranges::count(all, static_cast<char>(how), [](const std::string& text) { return text.front(); });
  };
  const bool broken = ended(End::well) != std::ssize(all);
  step_group_ = broken ? calls_.duplicate(everyone_) : step_group;
  step_ = next;
  end_step(broken, !broken || ended(End::failed) == std::ssize(all));
  std::vector<std::string> said;
  for (const std::string& text : all) said.push_back(text.substr(1));
  return said;
}

}  // namespace league::mpi

namespace league {
namespace {

#if defined(LEAGUE_MPI_LIBRARY)
constexpr const char* built_with = LEAGUE_MPI_LIBRARY;
#else
constexpr const char* built_with = nullptr;
#endif

/// Blocks signals in threads started meanwhile; they are handled by bench/cli/interrupt.hpp.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

/// What the launcher's environment says.
struct Launched {
  int ranks = 0;  ///< 0: not started by a launcher
  const char* variable = "";
};

Launched launched_here() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "PALS_SIZE"})
    if (const char* value = std::getenv(name)) return {std::max(1, std::atoi(value)), name};
  if (std::getenv("PMIX_RANK") == nullptr) return {};
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return {tasks != nullptr ? std::max(1, std::atoi(tasks)) : 1, "SLURM_STEP_NUM_TASKS"};
}

/// @throws Unsupported where each of several processes would take itself for the only one
void require_common_world(const Launched& launched, const mpi::Calls& calls, const mpi::World& world) {
  if (world.size > 1 || launched.ranks <= 1) return;
  calls.finish();
  throw Unsupported(std::string(launched.variable) + "=" + std::to_string(launched.ranks) +
                    " says that a launcher started " + std::to_string(launched.ranks) + " ranks, but " + world.library +
                    " finds one: start them with the mpirun of that MPI, or unset the variable where a launcher has "
                    "left it");
}

}  // namespace

std::unique_ptr<Ranks> start_ranks(bool forced) {
  const Launched launched = launched_here();
  if (launched.ranks == 0 && !forced) return std::make_unique<Ranks>(Ranks::Place{.host = mpi::host_name()});
  const mpi::Calls* (*calls_of)() = nullptr;
  try {
    const SharedLibrary library("libleague_mpi.so", built_with, SharedLibrary::Symbols::shared);
    library.resolve("league_mpi_calls", calls_of);
  } catch (const Unsupported& reason) {
    if (launched.ranks <= 1 && !forced) return std::make_unique<Ranks>(Ranks::Place{.host = mpi::host_name()});
    throw Unsupported("started as one of " + std::to_string(std::max(launched.ranks, 1)) +
                      " ranks, but MPI cannot be used: " + reason.what() +
                      ". It is built where CMake finds MPI, and lies beside the executable");
  }
  const mpi::Calls& calls = *calls_of();
  if (calls.version != mpi::Calls::current_version)
    throw Unsupported("libleague_mpi.so is of another version of League");
  const SignalsBlocked blocked;
  const mpi::World world = calls.start();
  require_common_world(launched, calls, world);
  return std::make_unique<mpi::MpiRanks>(
      calls, world,
      Ranks::Place{world.rank, world.size, world.local_rank, world.local_size, mpi::host_name(), world.library});
}

}  // namespace league
