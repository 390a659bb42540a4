// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <sstream>

#include "bench/try/description.hpp"
#include "bench/try/text.hpp"

namespace league::bench {
namespace {

using Role = Argument::Role;
constexpr const char* element = "float";  // of a template
constexpr std::size_t longest_line = 110;

std::string queue_of(Language language) {
  return language == Language::cuda ? "cudaStream_t stream" : "const Kokkos::DefaultExecutionSpace& exec";
}

/// A list of parameters or arguments, broken into lines below its opening bracket.
std::string folded(const std::string& before, const std::vector<std::string>& words, const std::string& after) {
  std::string text = before, line = before;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i] + (i + 1 < words.size() ? "," : after);
    if (line.size() + 1 + word.size() > longest_line) {
      line = std::string(before.size() - 1, ' ');
      text += "\n" + line;
    }
    const std::string space = i == 0 ? "" : " ";
    text += space + word;
    line += space + word;
  }
  return text;
}

/// The words of a text in lines that begin with `prefix`.
std::string wrapped(const std::string& text, const std::string& prefix) {
  std::istringstream words(text);
  std::string all, line = prefix;
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > longest_line) {
      all += line + "\n";
      line = prefix;
    }
    line += (line.empty() || line.back() == ' ' ? "" : " ") + word;
  }
  return all + line + "\n";
}

/// "train [rows x features], train_labels [rows]".
std::string shapes(const std::vector<Argument>& arrays) {
  std::vector<std::string> words;
  for (const Argument& array : arrays) words.push_back(array.name + " " + array.shape);
  return listed(words);
}

/// The code of a body in a language, with the element type in place of T.
std::string code(const std::string& text, Language language) {
  return with_identifiers(text, [language](const std::string& word) -> std::string {
    if (word == "T") return element;
    if (language == Language::cuda) return word == "atomic_add" ? "atomicAdd" : word;
    for (const char* function : {"atomic_add", "sqrt", "exp", "log", "log1p", "fabs", "fmax"})
      if (word == function) return "Kokkos::" + word;
    return word;
  });
}

/// What a CUDA kernel needs: the arguments and locals that it mentions, as declarations.
std::vector<std::string> taken(const Description& description, const Description::Kernel& kernel) {
  std::vector<std::string> all;
  for (const Argument& argument : description.arguments)
    if (mentions(kernel.range + " " + kernel.body, argument.name)) all.push_back(declared(argument, element));
  for (const std::string& local : description.locals)
    if (mentions(kernel.range + " " + kernel.body, local.substr(local.rfind(' ') + 1)))
      all.push_back(code(local, Language::cuda));
  return all;
}

std::vector<std::string> names(std::vector<std::string> declarations) {
  for (std::string& text : declarations) text = text.substr(text.rfind(' ') + 1);
  return declarations;
}

std::string cuda_kernel(const Description& description, const Description::Kernel& kernel) {
  return folded("__global__ void " + kernel.name + "(", taken(description, kernel), ") {") +
         "\n  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;\n  if (i >= " + kernel.range +
         ") return;\n" + indented(code(kernel.body, Language::cuda), 2) + "}\n\n";
}

/// An operand, in brackets if it needs them.
std::string bracketed(const std::string& text) { return text.find(' ') == std::string::npos ? text : "(" + text + ")"; }

std::string launch(const Description& description, const Description::Kernel& kernel, Language language) {
  if (language == Language::cuda)
    return folded(kernel.name + "<<<unsigned(1 + " + bracketed(kernel.range) + " / 256), 256, 0, stream>>>(",
                  names(taken(description, kernel)), ");") +
           "\n";
  const bool brief = kernel.body.find('\n') == std::string::npos;
  const std::string words =
      "\"" + kernel.name + "\", Kokkos::RangePolicy<>(exec, 0, " + kernel.range + "), KOKKOS_LAMBDA(std::int64_t i) {";
  const std::string head = "Kokkos::parallel_for(" + words, body = code(kernel.body, language);
  if (brief && head.size() + body.size() < longest_line) return head + " " + body + " });\n";
  if (head.size() < longest_line) return head + "\n" + indented(body, 2) + "});\n";
  return "Kokkos::parallel_for(\n    " + words + "\n" + indented(body, 6) + "    });\n";
}

/// The body of the function: C++, with every line "@name" replaced by the launch of that kernel.
std::string solution(const Description& description, Language language) {
  std::istringstream lines(description.solve);
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find('@');
    std::string text = at == std::string::npos ? code(line, language) + "\n" : "";
    for (const Description::Kernel& kernel : description.kernels)
      if (at != std::string::npos && line.substr(at + 1) == kernel.name)
        text = indented(launch(description, kernel, language), static_cast<int>(at));
    all += indented(text, 2);
  }
  return all;
}

std::string cpp_template(const Description& description, Language language) {
  const bool cuda = language == Language::cuda;
  const std::vector<Argument> scratch = description.arguments_of(Role::scratch);
  std::string text = wrapped(description.does + ".", "// ");
  text += wrapped(shapes(description.arguments_of(Role::input)) + "; writes " +
                      shapes(description.arguments_of(Role::output)) +
                      (scratch.empty() ? "" : "; scratch: " + shapes(scratch)) + ". All row-major, in " +
                      (cuda ? "device memory; every launch and copy goes to `stream`."
                            : "the memory of `exec`, where everything is launched."),
                  "// ");
  text += cuda ? "#include <cstdint>\n\n" : "#include <Kokkos_Core.hpp>\n#include <cstdint>\n\n";
  if (cuda)
    for (const Description::Kernel& kernel : description.kernels) text += cuda_kernel(description, kernel);
  return text + signature(description, language, element) + " {\n" + solution(description, language) + "}\n";
}

const char* numpy_type(const std::string& type) {
  static const std::map<std::string, const char*> types{{"T", "of that type"}, {"f32", "float32"}, {"f64", "float64"},
                                                        {"i32", "int32"},      {"i64", "int64"},   {"u8", "uint8"}};
  return types.at(type);
}

std::string python_template(const Description& description) {
  std::vector<std::string> results;
  for (const Argument& array : description.arguments_of(Role::output))
    results.push_back(array.name + " " + numpy_type(array.type) + " " + array.shape);
  std::vector<std::string> arguments;
  for (const Argument& argument : python_arguments(description)) arguments.push_back(argument.name);
  std::string text = "\"\"\"" + wrapped(description.does + ".", "").substr(0);
  text.pop_back();
  return text +
         "\"\"\"\n\nimport numpy as np\n\n# \"cupy\" or \"torch\": the arrays are on the GPU\narrays = "
         "\"numpy\"\n\n\n" +
         "def " + description.algorithm + "(" + listed(arguments) + "):\n" +
         indented(wrapped("\"\"\"" + shapes(description.arguments_of(Role::input)) + "; returns " + listed(results) +
                              ".\"\"\"",
                          ""),
                  4) +
         indented(description.python, 4);
}

}  // namespace

std::string declared(const Argument& argument, const std::string& type_of_elements) {
  const std::string type = cpp_type(argument.type, type_of_elements);
  if (!argument.is_array()) return type + " " + argument.name;
  return (argument.role == Role::input ? "const " : "") + type + "* " + argument.name;
}

std::vector<Argument> python_arguments(const Description& description) {
  std::vector<Argument> all = description.arguments_of(Role::input);
  for (const Argument& size : description.arguments_of(Role::size)) {
    bool of_an_input = false;
    for (const Argument& input : description.arguments_of(Role::input))
      of_an_input = of_an_input || input.source == size.source;
    if (!of_an_input) all.push_back(size);
  }
  for (const Argument& number : description.arguments_of(Role::number)) all.push_back(number);
  return all;
}

std::string signature(const Description& description, Language language, const std::string& type_of_elements) {
  std::vector<std::string> words;
  for (const Argument& argument : description.arguments) words.push_back(declared(argument, type_of_elements));
  words.push_back(queue_of(language));
  return folded("void " + description.algorithm + "(", words, ")");
}

std::string template_text(const Description& description, Language language) {
  return language == Language::python ? python_template(description) : cpp_template(description, language);
}

}  // namespace league::bench
