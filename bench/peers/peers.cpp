// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/peers.hpp"

#include <algorithm>
#include <fstream>
#include <regex>

#include "bench/build_info.hpp"
#include "bench/errors.hpp"
#include "bench/models.hpp"
#include "bench/peers/peer.hpp"

namespace league::bench {
namespace {

using Json = nlohmann::ordered_json;
constexpr int patience_s = 60;

Json ask(const python::Interpreter& interpreter) {
  const std::filesystem::path module = interpreter.root / "backends/python/catalogue.py";
  if (!std::filesystem::exists(module))
    throw BadInput("--peers: no " + module.string() + "; give the folder of the project");
  try {
    return Json::parse(python::Process(interpreter, {.module = "backends.python.catalogue"}).receive(patience_s));
  } catch (const std::exception& error) {
    throw BadInput("--python " + interpreter.python + " cannot list its peers: " + error.what());
  }
}

Peer peer_from(const Json& entry) {
  const auto text = [&](const char* key) { return entry.at(key).get<std::string>(); };
  Peer peer{.algorithm = text("algorithm"),
            .method = text("method"),
            .model = text("model"),
            .description = text("description"),
            .problem = text("problem"),
            .kind = text("kind") == "gpu" ? DeviceKind::gpu : DeviceKind::host,
            .obstacle = text("obstacle")};
  for (const Json& pair : entry.at("units")) peer.units[dtype_from(pair.at(0).get<std::string>())] = pair.at(1);
  for (const Json& dtype : entry.at("dtypes")) peer.dtypes.push_back(dtype_from(dtype.get<std::string>()));
  return peer;
}

/// Adds what one list has and the other lacks.
template <class T>
void unite(std::vector<T>& all, const std::vector<T>& more) {
  for (const T& one : more)
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

void declare(Algorithm& algorithm, const Peer& peer) {
  auto method = std::ranges::find(algorithm.methods, peer.method, &Method::name);
  if (method == algorithm.methods.end()) {
    Method own{.name = peer.method, .description = peer.description, .own_models = false, .problem = peer.problem};
    own.units = algorithm.methods.front().units;
    method = algorithm.methods.insert(method, std::move(own));
  }
  if (method->problem != peer.problem)
    throw std::runtime_error("method '" + peer.method + "' of " + peer.model + " solves the problem '" + peer.problem +
                             "', that of another model '" + method->problem + "': give it another name");
  unite(method->libraries, {peer.model});
  unite(method->dtypes, peer.dtypes);
}

void enter(const Peer& entry, const std::shared_ptr<PeerHost>& host) {
  auto& algorithms = registry().algorithms;
  const auto algorithm = std::ranges::find(algorithms, entry.algorithm, &Algorithm::name);
  if (algorithm == algorithms.end()) return;
  declare(*algorithm, entry);
  peers_known().units[{entry.algorithm, entry.method, entry.model}] = entry.units;
  const auto peer = std::make_shared<const Peer>(entry);  // the model's name lies in it
  registry().variants.push_back({peer->algorithm, peer->method, Model{peer->model, "python", peer->kind},
                                 [peer, host](const Problem& problem, const Context& context) {
                                   return prepare_peer(*peer, *host, problem, context);
                                 },
                                 peer->obstacle});
}

/// The models and methods that the files of peers speak of, read as text: no interpreter is there to be asked.
std::vector<std::string> words_of_peers(const std::filesystem::path& root) {
  static const std::regex method(R"re(^ +method = "(\w+)")re");
  std::vector<std::string> words;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "algorithms", none)) {
    if (entry.path().extension() != ".py") continue;
    words.push_back(entry.path().stem().string());
    std::ifstream file(entry.path());
    std::smatch found;
    for (std::string line; std::getline(file, line);)
      if (std::regex_search(line, found, method)) words.push_back(found[1]);
  }
  return words;
}

}  // namespace

Json enter_peers(const python::Interpreter& interpreter) {
  if (interpreter.python.empty()) {
    peers_known().left_out = words_of_peers(interpreter.root);
    return {};
  }
  const auto host = std::make_shared<PeerHost>(interpreter);
  const Json catalogue = ask(interpreter);
  try {
    for (const Json& entry : catalogue.at("peers")) enter(peer_from(entry), host);
    return {
        {"interpreter", interpreter.python}, {"python", catalogue.at("python")}, {"modules", catalogue.at("modules")}};
  } catch (const std::exception& error) {
    throw BadInput("the catalogue of peers in " + interpreter.root.string() + ": " + error.what());
  }
}

std::filesystem::path standard_peers() {
  const std::filesystem::path sources = build_info::sources;
  if (std::filesystem::exists(sources / "backends/python/catalogue.py")) return sources;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace league::bench
