// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/try/description.hpp"
#include "bench/try/text.hpp"

namespace league::bench {
namespace {

/// Words in capitals stand for what depends on the algorithm and the language. One template for all element types, so
/// that those which the user's function lacks are no error.
const char* const caller = R"(INCLUDES

namespace {

template <class T>
constexpr bool has = requires(PARAMETERS, const QUEUE& queue) { ::FUNCTION(NAMES, queue); };
static_assert(has<float> || has<double> || has<std::int32_t> || has<std::uint8_t>,
              "no such function (T: float, double, std::int32_t or std::uint8_t): SIGNATURE");

template <class T>
void run_as([[maybe_unused]] const league::own::Call& call, [[maybe_unused]] const QUEUE& queue) {
  if constexpr (has<T>)
    ::FUNCTION(VALUES, queue);
  else
    league::own::refuse(call);
}

}  // namespace

void league::own::run(const Call& call, const void* queue) {
  const auto& own = *static_cast<const QUEUE*>(queue);
  if (call.dtype == Dtype::f32) return run_as<float>(call, own);
  if (call.dtype == Dtype::f64) return run_as<double>(call, own);
  if (call.dtype == Dtype::i32) return run_as<std::int32_t>(call, own);
  run_as<std::uint8_t>(call, own);
}
)";

/// On one line.
std::string flat(const std::string& text) {
  std::string line;
  for (const char letter : text)
    if (letter != '\n' && !(letter == ' ' && line.ends_with(' '))) line += letter;
  return line;
}

std::string value_of(const Argument& argument) {
  const std::string name = "(\"" + argument.name + "\")";
  if (argument.is_array()) return "call.array<" + cpp_type(argument.type, "T") + ">" + name;
  return (argument.type == "f64" ? "call.real" : "call.integer") + name;
}

}  // namespace

std::string caller_text(const Description& description, Language language, const std::filesystem::path& file) {
  std::vector<std::string> parameters, names, values;
  for (const Argument& argument : description.arguments) {
    parameters.push_back(declared(argument, "T"));
    names.push_back(argument.name);
    values.push_back(value_of(argument));
  }
  const bool cuda = language == Language::cuda;
  const std::string includes = std::string("#include <cstdint>\n") + (cuda ? "" : "#include <Kokkos_Core.hpp>\n") +
                               "#include \"" + file.string() + "\"\n#include \"bench/try/worker/call.hpp\"";
  const std::map<std::string, std::string> words{{"INCLUDES", includes},
                                                 {"PARAMETERS", listed(parameters)},
                                                 {"QUEUE", cuda ? "cudaStream_t" : "Kokkos::DefaultExecutionSpace"},
                                                 {"FUNCTION", description.algorithm},
                                                 {"NAMES", listed(names)},
                                                 {"SIGNATURE", flat(signature(description, language, "T"))},
                                                 {"VALUES", listed(values)}};
  return with_identifiers(caller, [&](const std::string& word) {
    const auto found = words.find(word);
    return found == words.end() ? word : found->second;
  });
}

}  // namespace league::bench
