// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/kokkos.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "backends/host_memory.hpp"

namespace league::kokkos {
namespace {

constexpr int largest_pool = 512;  // OpenMPTraits::MAX_THREAD_COUNT: with more, Kokkos writes out of bounds

/// Environment variables of Kokkos::initialize, except those for tools. It aborts on invalid values.
constexpr std::array variables{"KOKKOS_NUM_THREADS",      "KOKKOS_DEVICE_ID",        "KOKKOS_VISIBLE_DEVICES",
                               "KOKKOS_MAP_DEVICE_ID_BY", "KOKKOS_DISABLE_WARNINGS", "KOKKOS_PRINT_CONFIGURATION",
                               "KOKKOS_TUNE_INTERNALS"};

/// Removes these variables, so that all models use the same threads and devices. @returns "NAME=value" of those that
/// were set
std::string remove_variables() {
  std::string removed;
  for (const char* variable : variables)
    if (const char* value = std::getenv(variable); value != nullptr) {
      removed += (removed.empty() ? "" : " ") + std::string(variable) + "=" + value;
      unsetenv(variable);
    }
  return removed;
}

/// Kokkos from initialize to finalize; not started without a device, since it would throw.
class Session final : public Backend {
 public:
  explicit Session(const Runtime& runtime) : ignored_(remove_variables()) {
    if (on_gpu && runtime.gpus().empty())
      unavailable_ = std::string("no GPU answers, and Kokkos here is built for ") + Exec::name();
    else if (!on_gpu && runtime.host_threads() > largest_pool)
      unavailable_ = "Kokkos takes up to " + std::to_string(largest_pool) + " threads, OMP_NUM_THREADS can limit the " +
                     std::to_string(runtime.host_threads()) + " here";
    if (!unavailable_.empty()) return;
    Kokkos::InitializationSettings settings;
    settings.set_disable_warnings(true);
    settings.set_num_threads(std::min(runtime.host_threads(), largest_pool));
    Kokkos::initialize(settings);
  }
  ~Session() override {
    if (Kokkos::is_initialized()) Kokkos::finalize();
  }
  [[nodiscard]] std::string version() const override {
    return std::to_string(KOKKOS_VERSION_MAJOR) + "." + std::to_string(KOKKOS_VERSION_MINOR) + "." +
           std::to_string(KOKKOS_VERSION_PATCH);
  }
  [[nodiscard]] std::string unavailable() const override { return unavailable_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts() const override {
    return {{"execution_space", Exec::name()}, {"ignored_variables", ignored_}};
  }

 private:
  std::string ignored_, unavailable_;
};

const RegisterBackend registered{
    "kokkos", 2, [](const Runtime& runtime) -> std::unique_ptr<Backend> { return std::make_unique<Session>(runtime); }};

/// The stream type that a GPU instance is made from: cudaStream_t, hipStream_t.
#if defined(KOKKOS_ENABLE_CUDA)
using Stream = cudaStream_t;
#elif defined(KOKKOS_ENABLE_HIP)
using Stream = hipStream_t;
#else
using Stream = void*;
#endif

/// Lets a host's instance allocate the scratch memory of any kernel here. Where an allocation fails, threads of the
/// instance have no scratch memory, or freed memory, which later kernels use all the same (Kokkos 4.7): it must not be
/// kept.
template <class E>
void reserve_scratch(const E& exec, int team) {
  using Policy = Kokkos::TeamPolicy<E>;
  const auto policy = Policy(exec, 1, team).set_scratch_size(0, Kokkos::PerTeam(Policy::scratch_size_max(0)));
  double sum = 0;
  Kokkos::parallel_reduce("reserve_scratch", policy, [](const typename Policy::member_type&, double&) {}, sum);
}

/// On a GPU, on the queue's stream; on a host, a pool of the device's own threads.
template <class E>
E make_instance(Queue& queue) {
  if constexpr (on_gpu) {
    return E(static_cast<Stream>(queue.handle()));
  } else if constexpr (std::is_constructible_v<E, int>) {
    E exec(queue.device().threads);
    reserve_scratch(exec, limits(queue).team_times_vector);
    return exec;
  } else {
    return E();
  }
}

template <class Space>
using Bytes = Kokkos::View<unsigned char*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Space>
Bytes<Space> bytes_of(const void* data, std::size_t size) {
  return Bytes<Space>(static_cast<unsigned char*>(const_cast<void*>(data)), size);
}

/// Kokkos' fill stores a byte at a time on a host.
template <class E>
void fill_bytes(const E& exec, void* to, std::size_t bytes, unsigned char value) {
  if constexpr (on_gpu) {
    Kokkos::deep_copy(exec, bytes_of<Memory>(to, bytes), value);
  } else {
    constexpr std::size_t piece = 1 << 16;
    const Kokkos::RangePolicy<E, Kokkos::IndexType<std::size_t>> pieces(exec, 0, ceil_div(bytes, piece));
    Kokkos::parallel_for("fill", pieces, [=](std::size_t i) {
      std::memset(static_cast<char*>(to) + i * piece, value, std::min(piece, bytes - i * piece));
    });
  }
}

}  // namespace

const Exec& instance(Runtime& runtime, Queue& queue) {
  return runtime.attachment<Exec>(queue.device(), [&] { return make_instance<Exec>(queue); }, queue.index());
}

Exec own_instance(Queue& queue) { return make_instance<Exec>(queue); }

LaunchLimits limits(const Queue& queue) {
  if constexpr (on_gpu) return {1024, Team::vector_length_max(), std::string("Kokkos on ") + Exec::name()};
  const int threads = std::min(queue.device().threads, 64);
  return {threads, 1, std::string("Kokkos on ") + Exec::name() + " with " + std::to_string(threads) + " threads"};
}

void copy_to_device(const Exec& exec, void* to, std::span<const std::byte> from) {
  Kokkos::deep_copy(exec, bytes_of<Memory>(to, from.size()), bytes_of<Kokkos::HostSpace>(from.data(), from.size()));
}

void copy_to_host(const Exec& exec, std::span<std::byte> to, const void* from) {
  Kokkos::deep_copy(exec, bytes_of<Kokkos::HostSpace>(to.data(), to.size()), bytes_of<Memory>(from, to.size()));
}

void fill(const Exec& exec, void* to, std::size_t bytes, unsigned char value) { fill_bytes(exec, to, bytes, value); }

std::uint64_t digest(const Exec& exec, const void* from, std::size_t bytes) {
  const auto* const data = static_cast<const unsigned char*>(from);
  const std::size_t words = ceil_div(bytes, sizeof(std::uint64_t));
  const Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::size_t>> policy(exec, 0, words);
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce(
      "digest", policy,
      KOKKOS_LAMBDA(std::size_t i, std::uint64_t& mine) { mine += digest_of(word_of(data, bytes, i), i); }, sum);
  return sum;
}

}  // namespace league::kokkos
