// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"

namespace league {

/// What a model stands for in a comparison; records say it.
enum class ModelKind {
  portable,          ///< our own kernels, in one source for all kinds of devices
  specialised,       ///< the same, with bodies for an architecture
  native,            ///< our own kernels, written for one kind of device
  reference,         ///< the same, for one thread of it
  library,           ///< of a vendor or of a kind of device
  portable_library,  ///< for all kinds of devices
  peer               ///< a Python library, or a kernel that is not in the tree: not registered
};
std::string_view name(ModelKind kind);

/// Properties of a model in every build, so that a study can name one that this build lacks. Those that a kind implies
/// are set by it.
struct ModelFacts {
  std::string name;
  int order;  ///< in lists
  ModelKind kind = ModelKind::native;
  DeviceKind device = DeviceKind::host;  ///< if no kernel of this build determines it
  /// Our own kernels, with configurable launches; false: a library.
  bool own = kind != ModelKind::library && kind != ModelKind::portable_library;
  bool portable = kind == ModelKind::portable || kind == ModelKind::specialised;
  bool expected = kind != ModelKind::specialised;  ///< for every method of our own; reported as missing otherwise
};

/// Registers a model, in `names.cpp` of its backend, which all builds compile.
struct RegisterModel {
  explicit RegisterModel(ModelFacts facts);
};
/// In the order of lists.
const std::vector<ModelFacts>& registered_models();
/// @returns null for a model that is not registered: a peer
const ModelFacts* model_facts(std::string_view name);
ModelKind kind_of_model(std::string_view name);

}  // namespace league
