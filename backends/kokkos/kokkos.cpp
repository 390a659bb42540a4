// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/kokkos.hpp"

#include <algorithm>

namespace league::kokkos {
namespace {

/// Kokkos from initialize to finalize; not started where its device is missing, since it would throw there.
class Session final : public Backend {
 public:
  explicit Session(const Runtime& runtime) {
    if (on_gpu && runtime.gpus().empty()) return;
    Kokkos::InitializationSettings settings;
    settings.set_disable_warnings(true);
    if (!on_gpu) settings.set_num_threads(runtime.host_threads());
    Kokkos::initialize(settings);
  }
  ~Session() override {
    if (Kokkos::is_initialized()) Kokkos::finalize();
  }
  [[nodiscard]] std::string version() const override {
    return std::to_string(KOKKOS_VERSION_MAJOR) + "." + std::to_string(KOKKOS_VERSION_MINOR) + "." +
           std::to_string(KOKKOS_VERSION_PATCH);
  }
  [[nodiscard]] std::string unavailable() const override {
    return Kokkos::is_initialized() ? "" : std::string("no GPU answers, and Kokkos here is built for ") + Exec::name();
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts() const override {
    return {{"execution_space", Exec::name()}};
  }
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

/// On a GPU, the queue's stream; on a host, a pool of the device's own threads.
template <class E>
E make_instance(Queue& queue) {
  if constexpr (on_gpu)
    return E(static_cast<Stream>(queue.handle()));
  else if constexpr (std::is_constructible_v<E, int>)
    return E(queue.device().threads);
  else
    return E();
}

}  // namespace

const Exec& instance(Runtime& runtime, Queue& queue) {
  return runtime.attachment<Exec>(queue.device(), [&] { return make_instance<Exec>(queue); });
}

Exec own_instance(Queue& queue) { return make_instance<Exec>(queue); }

LaunchLimits limits(const Queue& queue) {
  if constexpr (on_gpu) return {1024, Team::vector_length_max(), std::string("Kokkos on ") + Exec::name()};
  const int threads = std::min(queue.device().threads, 64);
  return {threads, 1, std::string("Kokkos on ") + Exec::name() + " with " + std::to_string(threads) + " threads"};
}

}  // namespace league::kokkos
