// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <span>
#include <string>

#include "backends/launch.hpp"
#include "backends/runtime.hpp"

/// Support for Kokkos variants. One execution-space instance per device, never the default one.
namespace league::kokkos {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
using Team = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>>;
using Member = Team::member_type;

inline constexpr bool on_gpu = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible;
inline constexpr Model model{"kokkos", "kokkos", on_gpu ? DeviceKind::gpu : DeviceKind::host};
/// The model whose blocks have bodies for an architecture.
inline constexpr Model specialised_model{"kokkos_specialised", "kokkos", model.device};
/// A library's model on the same devices: "kokkos_kernels".
constexpr Model library(std::string_view name) { return {name, "kokkos", model.device}; }

/// The second launch bound for `teams` resident teams per multiprocessor, as in CUDA. HIP counts warps per SIMD unit,
/// which scratch memory may prevent: left to the compiler.
#if defined(KOKKOS_ENABLE_HIP)
constexpr int launch_bound(int /*teams*/) { return 1; }
#else
constexpr int launch_bound(int teams) { return teams; }
#endif

/// A policy that passes functors of up to 4 KB as kernel arguments, like raw CUDA kernels. By default Kokkos 4.7 copies
/// functors above 512 bytes to constant memory, which waits for the previous kernel that used it and cannot be
/// captured.
template <class Policy>
auto light(const Policy& policy) {
  return Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

/// One work item, which may take all registers of a thread: with the default launch bounds the compiler saves them, and
/// independent instructions wait for each other.
inline auto one_item(const Exec& exec) {
  return light(Kokkos::RangePolicy<Exec, Kokkos::LaunchBounds<64, 1>>(exec, 0, 1));
}

/// Row-major, like the host arrays and the raw kernels.
template <class T>
using Vector = Kokkos::View<T*, Kokkos::LayoutRight, Memory>;
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The instance on the queue's device and stream; created at first use, owned by the runtime.
const Exec& instance(Runtime& runtime, Queue& queue);
/// A separate instance on the queue's device and stream, for objects that hold an instance's resources for their
/// lifetime.
Exec own_instance(Queue& queue);
/// Maximum threads and lanes of a team on this queue.
LaunchLimits limits(const Queue& queue);

/// `bytes` of a team's scratch, aligned to 16 bytes. The compiler is told: it would split accesses of 16 bytes into
/// those of 4. @pre the policy's scratch has 16 bytes more
template <class T, class TeamMember>
KOKKOS_INLINE_FUNCTION T* aligned_scratch(const TeamMember& team, std::size_t bytes, int level = 0) {
  return static_cast<T*>(__builtin_assume_aligned(team.team_scratch(level).get_shmem_aligned(bytes, 16), 16));
}

/// The most bytes of scratch of a team; of level 0 on a host little more than L1.
inline std::size_t scratch_limit(int level) { return static_cast<std::size_t>(Team::scratch_size_max(level)); }
/// Checks level-0 scratch. @throws Unsupported as `league::require_scratch`
inline void require_scratch(std::size_t bytes, const std::string& what) {
  league::require_scratch(bytes, scratch_limit(0), what);
}

/// Copies to and fills on an instance's device, asynchronous on the instance: not templates, which every file would
/// compile again.
void copy_to_device(const Exec& exec, void* to, std::span<const std::byte> from);
void copy_to_host(const Exec& exec, std::span<std::byte> to, const void* from);
void fill(const Exec& exec, void* to, std::size_t bytes, unsigned char value);
/// As `league::digest`, of bytes on the instance's device, whose work so far is waited for.
std::uint64_t digest(const Exec& exec, const void* from, std::size_t bytes);

/// An uninitialised view. @throws Unsupported if out of memory, for which Kokkos has no exception type of its own
template <class T>
Vector<T> allocate(const Exec& exec, const std::string& label, std::int64_t size) {
  try {
    return Vector<T>(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), static_cast<std::size_t>(size));
  } catch (const std::runtime_error& error) {
    throw Unsupported(std::string("out of memory: ") + error.what());
  }
}

/// A view on the instance's device, uninitialised, with the interface of `cuda::Array` and `host::Array`; copies and
/// fills are asynchronous on the instance.
template <class T>
class Array {
 public:
  using value_type = T;

  Array() = default;
  Array(const Exec& exec, const std::string& label, std::int64_t size)
      : exec_(exec), view_(allocate<T>(exec, label, size)) {}

  static Array make(Runtime& runtime, Queue& queue, const std::string& label, std::int64_t size) {
    return {instance(runtime, queue), label, size};
  }

  /// Managed memory (SharedSpace): pages migrate on access.
  static Array managed(Runtime& runtime, Queue& queue, const std::string& label, std::int64_t size) {
    Array array;
    array.exec_ = instance(runtime, queue);
    array.view_ = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::SharedSpace>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(size));
    return array;
  }

  [[nodiscard]] const Vector<T>& view() const { return view_; }
  /// The same values as a row-major matrix.
  [[nodiscard]] Matrix<T> matrix(std::int64_t rows, std::int64_t columns) const {
    return Matrix<T>(view_.data(), static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  }
  [[nodiscard]] T* data() const { return view_.data(); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(view_.extent(0)); }

  /// @pre the array has room for the span from element `at` on; the span is valid until the queue is fenced
  void copy_from(std::span<const T> host, std::int64_t at = 0) {
    if (!host.empty()) copy_to_device(exec_, view_.data() + at, std::as_bytes(host));
  }
  /// @pre the array has the span's values from element `at` on; the span is valid until the queue is fenced
  void copy_to(std::span<T> host, std::int64_t at = 0) const {
    if (!host.empty()) copy_to_host(exec_, std::as_writable_bytes(host), view_.data() + at);
  }
  /// Of `count` values from element `at` on; synchronous.
  [[nodiscard]] std::uint64_t digest(std::int64_t at, std::int64_t count) const {
    return kokkos::digest(exec_, data() + at, static_cast<std::size_t>(count) * sizeof(T));
  }
  /// Sets all bytes to 0.
  void clear() { set(0); }
  /// Sets all bytes to 0xff: NaN for floating types, -1 for signed integers.
  void poison() { set(0xff); }

 private:
  void set(unsigned char value) {
    if (size() > 0) fill(exec_, view_.data(), view_.size() * sizeof(T), value);
  }
  Exec exec_;
  Vector<T> view_;
};

}  // namespace league::kokkos
