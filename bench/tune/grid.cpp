// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tune/grid.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>
#include <tuple>

namespace league::bench {
namespace {

constexpr int min_block = 32, default_block = 256, max_block = 1024, max_vector = 32;

/// Blocks of a warp and more; those nearest to the default size first, among equals those with fewer lanes.
std::vector<Launch> gpu_teams() {
  std::vector<Launch> teams;
  for (int vector = 1; vector <= max_vector; vector *= 2)
    for (int block = min_block; block <= max_block; block *= 2)
      teams.push_back({.team = block / vector, .vector = vector});
  std::ranges::sort(teams, {}, [](const Launch& launch) {
    const auto log2 = [](int power) { return std::countr_zero(static_cast<unsigned>(power)); };
    const int far = std::abs(log2(launch.team * launch.vector) - log2(default_block));
    return std::tuple(far, launch.vector, launch.team);
  });
  return teams;
}

std::vector<int> powers_of_two_below(int end) {
  std::vector<int> powers;
  for (int power = 1; power < end; power *= 2) powers.push_back(power);
  return powers;
}

}  // namespace

Grid make_grid(DeviceKind kind, int units) {
  Grid grid;
  if (kind == DeviceKind::gpu) {
    grid.teams = gpu_teams();
    for (const int waves : {1, 2, 4, 8, 16, 32}) grid.leagues.push_back(units * waves);
    return grid;
  }
  grid.leagues = powers_of_two_below(units);
  for (const int team : grid.leagues) grid.teams.push_back({.team = team, .vector = 1});
  grid.teams.push_back({.team = units, .vector = 1});
  for (const int waves : {1, 2, 4, 8, 16}) grid.leagues.push_back(units * waves);
  return grid;
}

int units_of(const Runtime& runtime, const Device& device) {
  if (device.kind == DeviceKind::host) return device.threads;
  constexpr int unknown = 100;  // a common number
  for (const auto& [key, value] : runtime.info(device).facts)
    if (key == "multiprocessors") return std::stoi(value);
  return unknown;
}

std::vector<int> tiles_around(int tile) {
  std::vector<int> tiles;
  for (const int part : {2, 4})
    if (tile / part > 0) tiles.push_back(tile / part);
  for (const int times : {2, 4})
    if (tile > 0 && tile < max_block * max_block) tiles.push_back(tile * times);
  return tiles;
}

}  // namespace league::bench
