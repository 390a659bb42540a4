// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/try/own.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <list>
#include <set>

#include "backends/split.hpp"
#include "bench/build_info.hpp"
#include "bench/errors.hpp"
#include "bench/files.hpp"
#include "bench/peers/peer.hpp"
#include "bench/study/models.hpp"
#include "bench/try/compile.hpp"
#include "bench/try/description.hpp"
#include "bench/try/sanitizers.hpp"

namespace league::bench {
namespace {

namespace fs = std::filesystem;
constexpr int guard_bytes = 256;  // before and behind each array: a write to them is found
constexpr const char* program_name = "program";

std::string model_of(Language language) {
  return language == Language::cuda ? "your_cuda" : language == Language::kokkos ? "your_kokkos" : "your_python";
}

/// The name of the file without its ending, in letters that a case's name may have.
std::string method_of(const fs::path& file) {
  std::string name = file.stem().string();
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '_' && letter != '.' && letter != '-')
      letter = '_';
  return name;
}

/// Of a Python file: the line `arrays = "cupy"`; NumPy's without it.
std::string arrays_of(const fs::path& file) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    for (const char* library : {"numpy", "cupy", "torch"})
      if (line.starts_with("arrays = \"" + std::string(library) + "\"")) return library;
  return "numpy";
}

DeviceKind kind_of(Language language, const fs::path& file) {
  if (language == Language::cuda) return DeviceKind::gpu;
  if (language == Language::python) return arrays_of(file) == "numpy" ? DeviceKind::host : DeviceKind::gpu;
  for (const Variant& variant : registry().variants)
    if (variant.model.backend == "kokkos") return variant.model.device;
  return DeviceKind::host;
}

Json call_json(const Description& description, Language language, const fs::path& file) {
  static const std::map<Argument::Role, const char*> roles{{Argument::Role::input, "input"},
                                                           {Argument::Role::output, "output"},
                                                           {Argument::Role::scratch, "scratch"},
                                                           {Argument::Role::size, "size"},
                                                           {Argument::Role::number, "number"}};
  Json call = {{"function", description.algorithm}, {"file", file.string()}, {"guard", guard_bytes}};
  for (const Argument& argument : language == Language::python ? python_arguments(description) : description.arguments)
    call["arguments"].push_back({{"name", argument.name},
                                 {"role", roles.at(argument.role)},
                                 {"type", argument.type},
                                 {"source", argument.source},
                                 {"dimension", argument.dimension}});
  for (const Argument& output : description.arguments_of(Argument::Role::output))
    call["results"].push_back(output.source);
  if (language == Language::python) call["arrays"] = arrays_of(file);
  return call;
}

/// A file to be registered.
struct Own {
  fs::path file;
  Language language;
  fs::path folder;  ///< of its programs
};

/// The file as an #include can name it, which has no way to write a quotation mark: by a link to its folder.
fs::path includable(const Own& own) {
  if (own.file.string().find_first_of("\"\n") == std::string::npos) return own.file;
  if (own.file.filename().string().find_first_of("\"\n") != std::string::npos)
    throw BadInput("the name of " + own.file.string() + " has a quotation mark: rename it");
  const fs::path link = own.folder / "source";
  fs::remove(link);
  fs::create_directory_symlink(own.file.parent_path(), link);
  return link / own.file.filename();
}

/// The worker with the kernel, and those for the sanitizers.
void make_programs(const Own& own, const Description& description, const OwnOptions& options, DeviceKind kind,
                   OwnKernel& kernel) {
  const bool cuda = own.language == Language::cuda;
  Compilation what{.script = own_folder() / (cuda ? "cuda.sh" : "kokkos.sh"),
                   .source = own.folder / (cuda ? "caller.cu" : "caller.cpp"),
                   .program = own.folder / program_name,
                   .file = own.file.string()};
  if (options.compile) write_whole(what.source, caller_text(description, own.language, includable(own)));
  const auto make = [&](const Compilation& one) {
    if (options.compile) compile(one);
    if (!fs::exists(one.program)) throw BadInput(own.file.string() + ": no " + one.program.string() + " was compiled");
  };
  make(what);
  kernel.program = {what.program.string()};
  if (!options.sanitize) return;
  std::string made;
  for (const Sanitizer& sanitizer : sanitizers_of(own.language, kind == DeviceKind::gpu, options.root.string())) {
    what.flags = sanitizer.flags;
    what.linked = sanitizer.linked;
    what.program = own.folder / (kind == DeviceKind::gpu ? "sanitized" : sanitizer.name);
    if (made != what.program) make(what);
    made = what.program;
    std::vector<std::string> words = sanitizer.before;
    words.push_back(what.program.string());
    kernel.sanitized.push_back({sanitizer.name, words});
  }
}

/// What kernels need as long as they are registered: their processes, and the locks of their folders.
struct Workers {
  PeerHost host;
  std::list<FolderLock> locks{};
};

/// In the order of their names, so that no two runs wait for each other.
void lock_folders(const std::vector<Own>& all, std::list<FolderLock>& locks) {
  std::set<fs::path> folders;
  for (const Own& own : all)
    if (own.language != Language::python) folders.insert(own.folder);
  for (const fs::path& folder : folders) {
    make_folder(folder);
    locks.emplace_back(folder, "league: waits for another `league try` of a file of this name, whose program is in '" +
                                   folder.string() + "'\n");
  }
}

void enter(const Own& own, const OwnOptions& options, const std::shared_ptr<Workers>& workers) {
  const Description description = read_description(options.root, options.algorithm);
  const auto algorithm = std::ranges::find(registry().algorithms, options.algorithm, &Algorithm::name);
  if (algorithm == registry().algorithms.end())
    throw BadInput("--as " + options.algorithm + ": this build has no such algorithm");
  OwnKernel kernel{.file = own.file.string(),
                   .call = call_json(description, own.language, own.file),
                   .only = description.only,
                   .limit_s = options.limit_s};
  const DeviceKind kind = kind_of(own.language, own.file);
  if (own.language != Language::python) make_programs(own, description, options, kind, kernel);
  if (own.language == Language::python && options.sanitize)
    std::cerr << "league: " << own.file.string() << ": there is no sanitizer for Python\n";
  Method method{.name = method_of(own.file), .description = "your own", .own_models = false};
  for (const Method& other : algorithm->methods)
    for (const Dtype dtype : other.dtypes)
      if (std::ranges::find(method.dtypes, dtype) == method.dtypes.end()) method.dtypes.push_back(dtype);
  method.units = algorithm->methods.front().units;
  method.libraries = {model_of(own.language)};
  const auto peer = std::make_shared<const Peer>(Peer{.algorithm = options.algorithm,
                                                      .method = method.name,
                                                      .model = model_of(own.language),
                                                      .description = method.description,
                                                      .problem = {},
                                                      .dtypes = method.dtypes,
                                                      .kind = kind,
                                                      .own = std::move(kernel)});
  const auto same = std::ranges::find(algorithm->methods, method.name, &Method::name);
  if (same != algorithm->methods.end() && same->description != method.description)
    throw BadInput(own.file.string() + ": " + options.algorithm + " has a method '" + method.name +
                   "': give the file another name");
  if (registry().variant(options.algorithm, method.name, peer->model) != nullptr)
    throw BadInput(own.file.string() + ": two files have this name: their rows would too");
  if (same == algorithm->methods.end())
    algorithm->methods.push_back(std::move(method));
  else
    same->libraries.push_back(peer->model);
  registry().variants.push_back({.algorithm = peer->algorithm,
                                 .method = peer->method,
                                 .model = Model{peer->model, "own", peer->kind},
                                 .prepare = [peer, workers](const Problem& problem, const Context& context) {
                                   return prepare_peer(*peer, workers->host, problem, context);
                                 }});
}

/// The folder of an interpreter: of `venv/bin/python` it is `venv`.
fs::path prefix_of(const fs::path& python) { return python.parent_path().parent_path(); }

/// Folders that a variable lists.
std::vector<fs::path> listed_in(const char* variable) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);
  for (const std::string& folder : split(value == nullptr ? "" : value, ':'))
    if (!folder.empty()) folders.emplace_back(folder);
  return folders;
}

/// Says what cannot be dropped.
std::shared_ptr<const python::Isolation> isolation_of(const OwnOptions& options, const std::string& interpreter) {
  const char* home = std::getenv("HOME");
  std::vector<fs::path> needed{fs::absolute(options.root), own_folder().parent_path()};
  for (const fs::path& file : options.files) needed.push_back(fs::absolute(file));
  std::vector<fs::path> pythons{interpreter};
  if (interpreter.find('/') == std::string::npos)
    for (const fs::path& folder : listed_in("PATH")) pythons.push_back(folder / interpreter);
  for (const fs::path& python : pythons) {
    if (!fs::exists(python)) continue;
    needed.push_back(prefix_of(fs::absolute(python)));
    needed.push_back(prefix_of(fs::canonical(python)));
    break;
  }
  for (const char* variable : {"PYTHONPATH", "LD_LIBRARY_PATH"})
    for (const fs::path& folder : listed_in(variable)) needed.push_back(folder);
  if (home != nullptr) needed.push_back(fs::path(home) / ".local/lib");  // packages of the user
  auto isolation = std::make_shared<python::Isolation>(home == nullptr ? "" : home, needed);
  const auto say = [](const std::string& what) { std::cerr << "league: --isolate: " << what << "\n"; };
  if (!isolation->kept().network.empty()) say("the network stays: " + isolation->kept().network);
  if (!isolation->kept().home.empty()) {
    say("the home folder stays: " + isolation->kept().home);
  } else if (!isolation->visible().empty()) {
    std::string all;
    for (const std::string& path : isolation->visible()) all += (all.empty() ? "" : ", ") + path;
    say("what is needed of the home folder stays: " + all);
  }
  return isolation;
}

}  // namespace

fs::path project_root() {
  const fs::path sources = build_info::sources, folder = fs::read_symlink("/proc/self/exe").parent_path();
  if (fs::exists(sources / "algorithms")) return sources;
  for (const fs::path& root : {folder, folder.parent_path().parent_path()})
    if (fs::exists(root / "algorithms")) return root;
  return sources;
}

fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path() / "try"; }

Json enter_own(const OwnOptions& options, const python::Interpreter& peers, const Runtime& /*runtime*/) {
  python::Interpreter interpreter{peers.python, options.root};
  if (interpreter.python.empty()) {
    const fs::path ours = options.root / "build/venv/bin/python";
    interpreter.python = fs::exists(ours) ? ours.string() : "python3";
  }
  if (options.isolate) interpreter.isolation = isolation_of(options, interpreter.python);
  const auto workers = std::make_shared<Workers>(PeerHost(interpreter));
  std::vector<Own> all;
  for (const fs::path& file : options.files) {
    if (!fs::is_regular_file(file)) throw BadInput("no file " + file.string());
    const Language language = language_of(file);
    all.push_back({fs::absolute(file), language,
                   own_folder() / options.algorithm / (model_of(language) + "-" + method_of(file))});
  }
  lock_folders(all, workers->locks);
  Json files = Json::object();
  for (const Own& own : all) {
    enter(own, options, workers);
    files[own.file.filename().string()] = file_hash(own.file);
  }
  if (interpreter.isolation) {
    files["isolated"] = Json::array();
    if (interpreter.isolation->kept().network.empty()) files["isolated"].push_back("network");
    if (interpreter.isolation->kept().home.empty()) files["isolated"].push_back("home");
  }
  return files;
}

void add_own_cases(Study& study, const OwnOptions& options, const Runtime& runtime) {
  std::erase_if(study.comparisons, [&](const Comparison& comparison) {
    const Case& first = comparison.cases.front();
    return first.algorithm->name != options.algorithm || !first.method->problem.empty();
  });
  if (study.comparisons.empty())
    throw BadInput("the study has no comparison of " + options.algorithm + ", of its usual problem");
  const Algorithm& algorithm = *registry().algorithm(options.algorithm);
  for (Comparison& comparison : study.comparisons) {
    const Case first = comparison.cases.front();
    std::erase_if(comparison.cases, [](const Case& that) { return that.model.starts_with("your_"); });
    for (const fs::path& file : options.files) {
      Case own = first;
      own.method = &*std::ranges::find(algorithm.methods, method_of(file), &Method::name);
      own.model = model_of(language_of(file));
      own.execution = Execution::stream;
      own.communicator = default_communicator(own);
      own.launch = {};
      own.launch_source = LaunchSource::automatic;
      give_names(own);
      own.skip = known_skip_reason(runtime, own);
      comparison.cases.push_back(std::move(own));
    }
  }
}

}  // namespace league::bench
