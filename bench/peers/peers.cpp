// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/peers.hpp"

#include <algorithm>
#include <deque>
#include <fstream>

#include "bench/build_info.hpp"
#include "bench/errors.hpp"
#include "bench/peers/answer.hpp"
#include "bench/peers/peer.hpp"
#include "bench/study/models.hpp"

namespace league::bench {
namespace {

constexpr int catalogue_timeout_s = 60;
constexpr std::string_view python_backend = "python";

Catalogue ask(const python::Interpreter& interpreter) {
  const std::filesystem::path module = interpreter.root / "backends/python/catalogue.py";
  if (!std::filesystem::exists(module))
    throw BadInput("--peers: no " + module.string() + "; give the folder of the project");
  try {
    return Catalogue(
        python::Process(interpreter, {.module = "backends.python.catalogue"}).receive(catalogue_timeout_s));
  } catch (const std::exception& error) {
    throw BadInput("--python " + interpreter.python + " cannot list its peers: " + error.what());
  }
}

/// Appends what `all` lacks.
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
  const auto peer = std::make_shared<const Peer>(entry);  // owns the name of the model
  registry().variants.push_back(
      {.algorithm = peer->algorithm,
       .method = peer->method,
       .model = Model{peer->model, python_backend, peer->kind},
       .prepare = [peer, host](const Problem& problem,
                               const Context& context) { return prepare_peer(*peer, *host, problem, context); },
       .unavailable = peer->unavailable,
       .units = peer->units});
}

/// Whether a case is of a peer, not of a user's own kernel.
bool is_listed(const Case& that) {
  const Variant* variant = registry().variant(that.algorithm->name, that.method->name, that.model);
  return variant != nullptr && variant->model.backend == python_backend;
}

/// The host of the peers that were entered last.
std::weak_ptr<PeerHost>& entered() {
  static std::weak_ptr<PeerHost> host;
  return host;
}

/// The project folder of a run without peers; empty where an interpreter listed them.
std::filesystem::path& left_out() {
  static std::filesystem::path root;
  return root;
}

}  // namespace

Json enter_peers(const python::Interpreter& interpreter) {
  left_out() = interpreter.python.empty() ? interpreter.root : "";
  if (interpreter.python.empty()) return {};
  const auto host = std::make_shared<PeerHost>(interpreter);
  entered() = host;
  const Catalogue catalogue = ask(interpreter);
  try {
    for (const Peer& peer : catalogue.peers) enter(peer, host);
  } catch (const std::exception& error) {
    throw BadInput("the catalogue of peers in " + interpreter.root.string() + ": " + error.what());
  }
  Json facts = {{"interpreter", interpreter.python}};
  facts.update(catalogue.facts);
  return facts;
}

void expect_peers(const Comparison& comparison, const Runtime& runtime) {
  constexpr int processors = 2;  // of a worker, which imports mostly by one thread
  const std::shared_ptr<PeerHost> host = entered().lock();
  if (!host || !runtime.ranks().place().alone()) return;  // a peer runs in one process
  std::deque<PeerHost::Library> next;
  for (const Case& that : comparison.cases)
    if (that.skip.empty() && is_listed(that))
      next.push_back({that.algorithm->name, that.model, peer_threads(runtime, devices_of(runtime, that).front())});
  host->expect(std::move(next), runtime.host_threads() / processors);
}

void settle_peers() {
  if (const std::shared_ptr<PeerHost> host = entered().lock()) host->settle();
}

bool is_left_out(const std::string& word) {
  if (left_out().empty()) return false;
  const std::string method = " method = \"" + word + '"';
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(left_out() / "algorithms", none)) {
    if (entry.path().extension() != ".py") continue;
    if (entry.path().stem() == word) return true;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      if (line.ends_with(method)) return true;
  }
  return false;
}

std::filesystem::path default_peers() {
  const std::filesystem::path sources = build_info::sources;
  if (std::filesystem::exists(sources / "backends/python/catalogue.py")) return sources;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace league::bench
