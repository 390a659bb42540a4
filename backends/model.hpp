// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"

namespace league {

/// Properties of a model in every build, so that a study can name one that this build lacks.
struct ModelFacts {
  std::string name;
  int order;                             ///< in lists
  DeviceKind device = DeviceKind::host;  ///< if no kernel of this build determines it
  bool own = true;                       ///< our own kernels, with configurable launches; false: a library
  bool portable = false;                 ///< one source for all kinds of devices
  bool parallel = true;                  ///< uses a whole device; else one thread of it
  bool expected = true;                  ///< expected for every method of our own; reported as missing otherwise
};

/// Registers a model, in `names.cpp` of its backend, which all builds compile.
struct RegisterModel {
  explicit RegisterModel(ModelFacts facts);
};
/// In the order of lists.
const std::vector<ModelFacts>& registered_models();
/// @returns null for a model that is not registered: a peer
const ModelFacts* model_facts(std::string_view name);

}  // namespace league
