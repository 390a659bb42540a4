// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.hpp"

namespace league {

/// What every build knows of a model, so that a study can name one that this build lacks.
struct ModelFacts {
  std::string name;
  int order;                             ///< in lists
  DeviceKind device = DeviceKind::host;  ///< where no kernel of this build says it
  bool own = true;                       ///< written by us: its launch can be chosen; a library chooses for itself
  bool portable = false;                 ///< one source for all kinds of devices
  bool parallel = true;                  ///< uses a whole device; else one thread of it
  bool expected = true;                  ///< of every method that is ours: where it is not there, it is missing
};

/// Makes a model known: in `names.cpp` of its backend, which all builds compile.
struct RegisterModel {
  explicit RegisterModel(ModelFacts facts);
};
/// In the order of lists.
const std::vector<ModelFacts>& registered_models();
/// @returns null for a model that nobody registered: a peer
const ModelFacts* model_facts(std::string_view name);

}  // namespace league
