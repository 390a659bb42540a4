// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/ranks/places.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace league::bench {
namespace {

namespace fs = std::filesystem;

/// The numbers of "0-3,8".
std::set<int> numbers_of(std::string_view list) {
  std::set<int> numbers;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    int first = 0;
    const auto number = std::from_chars(at, end, first);
    if (number.ec != std::errc()) break;
    at = number.ptr;
    int last = first;
    if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
    while (first <= last) numbers.insert(first++);
    if (at < end && *at == ',') ++at;
  }
  return numbers;
}

/// "0-3,8"
std::string list_of(const std::set<int>& numbers) {
  std::string list;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int first = *at;
    int last = first;
    while (++at != numbers.end() && *at == last + 1) last = *at;
    list += (list.empty() ? "" : ",") + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
  }
  return list;
}

/// The processors of all threads: OpenMP binds each to its own.
std::set<int> cores_here() {
  std::set<int> cores;
  std::error_code none;
  for (const auto& task : fs::directory_iterator("/proc/self/task", none)) {
    std::ifstream status(task.path() / "status");
    for (std::string word; status >> word;)
      if (word == "Cpus_allowed_list:" && status >> word) cores.merge(numbers_of(word));
  }
  return cores;
}

std::set<int> numa_nodes_of(const std::set<int>& cores) {
  std::set<int> nodes;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/node", none)) {
    const std::string name = entry.path().filename();
    std::string list;
    if (!name.starts_with("node") || !(std::ifstream(entry.path() / "cpulist") >> list)) continue;
    const std::set<int> there = numbers_of(list);
    if (std::ranges::any_of(cores, [&](int core) { return there.contains(core); }))
      nodes.merge(numbers_of(std::string_view(name).substr(4)));
  }
  return nodes;
}

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
  if (ranks.size() > 1 && threads > static_cast<int>(cores.size()))
    found.push_back("the " + std::to_string(ranks.size()) + " ranks on " + host + " have " + std::to_string(threads) +
                    " threads on " + std::to_string(cores.size()) + (cores.size() == 1 ? " core" : " cores") +
                    ": set OMP_NUM_THREADS, or give each rank cores of its own (mpirun --bind-to core, "
                    "srun --cpus-per-task)");
}

}  // namespace

Json place_of(const Runtime& runtime) {
  const Ranks::Place& place = runtime.ranks().place();
  const std::set<int> cores = cores_here();
  Json visible = Json::array(), variables = Json::object();
  for (const DeviceInfo& gpu : runtime.gpus()) visible.push_back(fact(gpu, "bus_id"));
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"})
    if (const char* value = std::getenv(name)) variables[name] = value;
  return {{"rank", place.rank},       {"local_rank", place.local_rank},
          {"host", place.host},       {"threads", runtime.host_threads()},
          {"cores", list_of(cores)},  {"numa_nodes", list_of(numa_nodes_of(cores))},
          {"gpus", gpus_of(runtime)}, {"visible_gpus", visible},
          {"variables", variables}};
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
