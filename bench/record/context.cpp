// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <benchmark/benchmark.h>

#include <array>
#include <ctime>
#include <fstream>
#include <random>

#include "bench/build_info.hpp"
#include "bench/files.hpp"
#include "bench/ranks/places.hpp"
#include "bench/record/record.hpp"
#include "bench/study/models.hpp"

namespace league::bench {
namespace {

std::string printed_now(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), format, &local);
  return text.data();
}

/// RFC 3339, as Google Benchmark writes it.
std::string date() {
  std::string text = printed_now("%FT%T%z");
  return text.insert(text.size() - 2, ":");
}

Json device_json(const DeviceInfo& info) {
  Json device = {{"kind", name(info.device.kind)},
                 {"index", info.device.index},
                 {"name", info.name},
                 {"llc_bytes", info.llc_bytes},
                 {"memory_bytes", info.memory_bytes}};
  for (const auto& [key, value] : info.facts) device[key] = value;
  return device;
}

Json backends_json(const Runtime& runtime) {
  Json backends = Json::object();
  for (const std::string& backend_name : runtime.backends()) {
    const Backend& backend = *runtime.backend(backend_name);
    Json facts = {{"version", backend.version()}, {"unavailable", backend.unavailable()}};
    for (const auto& [key, value] : backend.facts()) facts[key] = value;
    backends[backend_name] = facts;
  }
  return backends;
}

/// A hash of the system's id of this machine, which does not tell the id; empty where there is none.
std::string machine_hash() {
  std::ifstream file("/etc/machine-id");
  std::string id;
  return file >> id && id != "uninitialized" ? hash_of("league on " + id) : "";
}

/// Google Benchmark's description of the machine.
Json machine_json() {
  const benchmark::CPUInfo& cpu = benchmark::CPUInfo::Get();
  Json caches = Json::array();
  for (const auto& cache : cpu.caches)
    caches.push_back(
        {{"type", cache.type}, {"level", cache.level}, {"size", cache.size}, {"num_sharing", cache.num_sharing}});
  return {{"date", date()},
          {"host_name", benchmark::SystemInfo::Get().name},
          {"executable", "league"},
          {"num_cpus", cpu.num_cpus},
          {"mhz_per_cpu", static_cast<int>(cpu.cycles_per_second / 1e6)},
          {"cpu_scaling_enabled", cpu.scaling == benchmark::CPUInfo::ENABLED},
          {"caches", caches},
          {"load_avg", cpu.load_avg},
          {"library_build_type", "release"}};
}

}  // namespace

std::string new_id() {
  std::random_device random;
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "-%08x%08x", random(), random());
  return printed_now("%Y%m%dT%H%M%S") + text.data();
}

const std::string& executable_hash() {
  static const std::string hash = file_hash("/proc/self/exe");
  return hash;
}

Json devices_json(const Runtime& runtime) {
  Json devices = Json::array({device_json(runtime.host())});
  for (const DeviceInfo& gpu : runtime.gpus()) devices.push_back(device_json(gpu));
  return devices;
}

Json make_context(const Runtime& runtime, const std::string& study, const std::vector<std::string>& preflight,
                  const Json& places) {
  Json context = machine_json();
  context["league"] = {{"study", study},
                       {"launch_id", new_id()},
                       {"git", build_info::git},
                       {"source_hash", build_info::source_hash},
                       {"executable_hash", executable_hash()},
                       {"machine", machine_hash()},
                       {"preset", build_info::preset},
                       {"kokkos_version", build_info::kokkos_version},
                       {"compiler", build_info::compiler},
                       {"cxx_flags", build_info::cxx_flags},
                       {"cuda_flags", build_info::cuda_flags},
                       {"kokkos_flags", build_info::kokkos_flags},
                       {"devices", devices_json(runtime)},
                       {"ranks", places},
                       {"nodes", hosts_of(places)},
                       {"host_devices", "sequential"},
                       {"caches", "hot"},
                       {"preflight", preflight},
                       {"backends", backends_json(runtime)}};
  return context;
}

}  // namespace league::bench
