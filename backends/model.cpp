// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/model.hpp"

#include <algorithm>
#include <array>

namespace league {
namespace {

std::vector<ModelFacts>& models() {
  static std::vector<ModelFacts> all;
  return all;
}

}  // namespace

RegisterModel::RegisterModel(ModelFacts facts) {
  const auto after = std::ranges::upper_bound(models(), facts.order, {}, &ModelFacts::order);
  models().insert(after, std::move(facts));
}

std::string_view name(ModelKind kind) {
  static constexpr std::array names{"portable", "specialised",      "native", "reference",
                                    "library",  "portable_library", "peer"};
  return names[static_cast<std::size_t>(kind)];
}

const std::vector<ModelFacts>& registered_models() { return models(); }

const ModelFacts* model_facts(std::string_view name) {
  const auto found = std::ranges::find(models(), name, &ModelFacts::name);
  return found == models().end() ? nullptr : &*found;
}

ModelKind kind_of_model(std::string_view name) {
  const ModelFacts* facts = model_facts(name);
  return facts == nullptr ? ModelKind::peer : facts->kind;
}

}  // namespace league
