// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "algorithms/contract/registry.hpp"
#include "bench/peers/peer_host.hpp"

namespace league::bench {

/// A kernel of the user's own (bench/try), where it is not a class of a peer file.
struct OwnKernel {
  /// A sanitizer, and the program to run under it.
  struct Sanitized {
    std::string name;
    std::vector<std::string> program;
  };
  std::string file{};                         ///< the user's, for messages
  std::vector<std::string> program{};         ///< a worker with the kernel; empty: a function in Python
  nlohmann::ordered_json call{};              ///< how to call it, for the worker
  std::map<std::string, std::string> only{};  ///< parameters that it supports at one value
  int limit_s = 0;                            ///< of one call
  std::vector<Sanitized> sanitized{};         ///< run before anything is timed
};

/// A variant in Python, as the catalogue lists it, or a kernel of the user's own.
struct Peer {
  std::string algorithm, method, model, description, problem;
  std::vector<Dtype> dtypes{};
  std::map<Dtype, std::string> units{};  ///< where they are not those of the algorithm's first method
  DeviceKind kind = DeviceKind::host;
  bool several = false;       ///< can run on several devices
  std::string unavailable{};  ///< why it cannot run here; empty if it can
  std::optional<OwnKernel> own{};
};

/// Of the process of a peer on a device.
int peer_threads(const Runtime& runtime, Device device);

/// A peer in a process of its own, on one device, or on several where it can. It times itself.
/// @throws Unsupported, std::runtime_error if the process ends or its code raises
std::unique_ptr<Prepared> prepare_peer(const Peer& peer, PeerHost& host, const Problem& problem,
                                       const Context& context);

}  // namespace league::bench
