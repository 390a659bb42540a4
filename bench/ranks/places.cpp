// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/ranks/places.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "bench/ranks/cores.hpp"
#include "bench/ranks/variables.hpp"

namespace league::bench {
namespace {

std::string fact(const DeviceInfo& info, std::string_view key) {
  const auto found = std::ranges::find(info.facts, key, &std::pair<std::string, std::string>::first);
  return found == info.facts.end() ? std::string() : found->second;
}

/// -1 where the machine does not say.
int numa_node_of(const std::string& bus_id) {
  int node = -1;
  std::ifstream("/sys/bus/pci/devices/" + bus_id + "/numa_node") >> node;
  return node;
}

Json gpus_of(const Runtime& runtime) {
  Json gpus = Json::array();
  for (const Device& device : runtime.devices(DeviceKind::gpu, runtime.gpus_of_all_ranks())) {
    const DeviceInfo& info = runtime.info(device);
    const std::string bus_id = fact(info, "bus_id");
    gpus.push_back({{"index", device.index},
                    {"bus_id", bus_id},
                    {"numa_node", numa_node_of(bus_id)},
                    {"peers", fact(info, "peers")}});
  }
  return gpus;
}

std::map<std::string, std::vector<Json>> by_host(const Json& places) {
  std::map<std::string, std::vector<Json>> hosts;
  for (const Json& place : places) hosts[place.at("host")].push_back(place);
  return hosts;
}

/// "rank 3 on node-a"
std::string name_of(const Json& place) {
  return "rank " + text_of(place.at("rank")) + " on " + place.at("host").get<std::string>();
}

void look_at_gpus(const std::string& host, const std::vector<Json>& ranks, std::vector<std::string>& found) {
  const auto differs = [&](const Json& place) { return place.at("visible_gpus") != ranks[0].at("visible_gpus"); };
  const auto other = std::ranges::find_if(ranks, differs);
  if (other == ranks.end()) return;
  found.push_back("ranks " + text_of(ranks[0].at("rank")) + " and " + text_of(other->at("rank")) + " on " + host +
                  " see different GPUs: there is no peer access between what is hidden from each other, and copies may "
                  "go through the host. Start without binding GPUs (srun --gpu-bind=none): each rank takes its own");
}

void look_at_distance(const Json& place, std::vector<std::string>& found) {
  const auto nodes = place.at("numa_nodes").get<std::string>();
  for (const Json& gpu : place.at("gpus")) {
    const int node = gpu.at("numa_node");
    if (node >= 0 && !nodes.empty() && !numbers_of(nodes).contains(node))
      found.push_back(name_of(place) + ": GPU " + text_of(gpu.at("index")) + " is at NUMA node " +
                      std::to_string(node) + ", the rank's cores are at " + nodes);
  }
}

void look_at_cores(const std::string& host, const std::vector<Json>& ranks, std::vector<std::string>& found) {
  std::set<int> cores;
  int threads = 0;
  for (const Json& place : ranks) {
    cores.merge(numbers_of(place.at("cores").get<std::string>()));
    threads += place.at("threads").get<int>();
  }
  if (cores.empty() || threads <= static_cast<int>(cores.size())) return;
  const std::string on = std::to_string(threads) + " threads on " + std::to_string(cores.size()) +
                         (cores.size() == 1 ? " core" : " cores");
  if (ranks.size() == 1)
    found.push_back(on + ", on which they take turns: set OMP_NUM_THREADS=" + std::to_string(cores.size()) +
                    ", or free more cores, which OMP_PLACES, OMP_PROC_BIND, GOMP_CPU_AFFINITY or taskset limit");
  else
    found.push_back("the " + std::to_string(ranks.size()) + " ranks on " + host + " have " + on +
                    ": set OMP_NUM_THREADS, or give each rank cores of its own (mpirun --bind-to core, "
                    "srun --cpus-per-task)");
}

}  // namespace

Json place_of(const Runtime& runtime) {
  const Ranks::Place& place = runtime.ranks().place();
  const std::set<int> cores = cores_here();
  Json visible = Json::array();
  for (const DeviceInfo& gpu : runtime.gpus()) visible.push_back(fact(gpu, "bus_id"));
  return {{"rank", place.rank},           {"local_rank", place.local_rank},
          {"host", place.host},           {"threads", runtime.host_threads()},
          {"cores", list_of(cores)},      {"numa_nodes", list_of(numa_nodes_of(cores))},
          {"gpus", gpus_of(runtime)},     {"visible_gpus", visible},
          {"variables", variables_here()}};
}

Json places_of(const Runtime& runtime) {
  Json places = Json::array();
  for (const std::string& text : runtime.ranks().texts(text_of(place_of(runtime)))) places.push_back(Json::parse(text));
  return places;
}

int hosts_of(const Json& places) { return static_cast<int>(by_host(places).size()); }

std::string text_of_place(const Json& place) {
  const auto word = [&](const char* key) { return place.at(key).get<std::string>(); };
  std::string text = name_of(place) + ": ";
  for (const Json& gpu : place.at("gpus")) {
    text += "GPU " + text_of(gpu.at("index")) + " (" + gpu.at("bus_id").get<std::string>();
    if (const int node = gpu.at("numa_node"); node >= 0) text += ", NUMA node " + std::to_string(node);
    text += ", peer access to " + gpu.at("peers").get<std::string>() + "), ";
  }
  text += "cores " + word("cores") + (word("numa_nodes").empty() ? "" : " (NUMA node " + word("numa_nodes") + ")") +
          ", " + text_of(place.at("threads")) + (place.at("threads") == 1 ? " thread" : " threads");
  for (const auto& [name, value] : place.at("variables").items()) text += ", " + name + "=" + value.get<std::string>();
  return text;
}

std::vector<std::string> binding_faults(const Json& places) {
  std::vector<std::string> found;
  for (const auto& [host, ranks] : by_host(places)) {
    look_at_gpus(host, ranks, found);
    for (const Json& place : ranks) look_at_distance(place, found);
    look_at_cores(host, ranks, found);
  }
  return found;
}

}  // namespace league::bench
