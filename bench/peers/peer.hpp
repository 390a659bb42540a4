// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "algorithms/contract/registry.hpp"
#include "backends/python/process.hpp"
#include "bench/peers/shared_arrays.hpp"

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

/// The interpreter, and the inputs that its processes share, for as long as one of them works on them.
class PeerHost {
 public:
  explicit PeerHost(python::Interpreter interpreter) : interpreter_(std::move(interpreter)) {}
  [[nodiscard]] const python::Interpreter& interpreter() const { return interpreter_; }
  std::shared_ptr<SharedArrays> inputs_of(const Problem& problem, std::int64_t free_bytes);

 private:
  python::Interpreter interpreter_;
  std::map<const Problem*, std::weak_ptr<SharedArrays>> inputs_;
};

/// A peer in a process of its own, on one device, or on several where it can. It times itself.
/// @throws Unsupported, std::runtime_error if the process ends or its code raises
std::unique_ptr<Prepared> prepare_peer(const Peer& peer, PeerHost& host, const Problem& problem,
                                       const Context& context);

}  // namespace league::bench
