// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "backends/runtime.hpp"

namespace league::bench {

/// Measures how much memory the cases of a comparison take, on their devices and on the host, to decide whether one
/// more case fits beside the others.
class MemoryWatch {
 public:
  explicit MemoryWatch(const Runtime& runtime) : runtime_(runtime) {}

  void before(const std::vector<Device>& devices) {
    for (const Device& device : with_host(devices)) free_before_[key(device)] = free_bytes(device);
  }
  void after(const std::vector<Device>& devices) {
    for (const Device& device : with_host(devices)) {
      const std::int64_t taken = free_before_[key(device)] - free_bytes(device);
      largest_[key(device)] = std::max(largest_[key(device)], taken);
    }
  }
  /// Whether the largest case so far would fit once more on each device.
  [[nodiscard]] bool has_room(const std::vector<Device>& devices) const {
    return std::ranges::all_of(with_host(devices), [&](const Device& device) {
      const auto largest = largest_.find(key(device));
      return largest == largest_.end() || free_bytes(device) > largest->second + largest->second / 10;
    });
  }
  /// Whether a case failed for lack of memory.
  [[nodiscard]] static bool is_exhausted(std::string_view reason) { return reason.starts_with("out of "); }

 private:
  using Key = std::pair<DeviceKind, int>;
  static Key key(const Device& device) { return {device.kind, device.kind == DeviceKind::host ? 0 : device.index}; }
  static std::vector<Device> with_host(std::vector<Device> devices) {
    devices.push_back({DeviceKind::host, 0, 1});
    return devices;
  }
  /// None where the GPU no longer answers: the next case on it says why.
  [[nodiscard]] std::int64_t free_bytes(const Device& device) const {
    try {
      return runtime_.free_memory_bytes(device);
    } catch (const std::runtime_error&) {
      return 0;
    }
  }

  const Runtime& runtime_;
  std::map<Key, std::int64_t> free_before_, largest_;
};

}  // namespace league::bench
