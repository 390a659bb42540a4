# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts from the driver get the right names; with a fake driver library."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DRIVER = """
extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) { return *device = &device, 0; }
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* value) { return *value = 500000, 0; }
int nvmlDeviceGetPowerManagementDefaultLimit(void*, unsigned* value) { return *value = 700000, 0; }
int nvmlDeviceGetMigMode(void*, unsigned* now, unsigned* pending) { return *now = 0, *pending = 1, 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) { return *count = 2, 7; }
int nvmlDeviceGetClockInfo(void*, unsigned which, unsigned* value) { return *value = which == 1 ? 1980 : 3201, 0; }
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* value) { return *value = 41, 0; }
int nvmlDeviceGetPowerUsage(void*, unsigned*) { return 3; }
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* value) { return *value = 5000000000500, 0; }
}
"""
PROGRAM = """
#include <cstdio>
#include "backends/cuda/management.hpp"
int main() {
  const league::cuda::Management management;
  for (const auto& facts : {management.facts("0"), management.readings("0")})
    for (const auto& [key, value] : facts) std::printf("%s %s\\n", key.c_str(), value.c_str());
  const auto energy = management.energy("0");
  std::printf("joules %.1f\\n", energy ? energy->joules : 0.0);
  std::printf("watts %s\\n", energy && !energy->watts ? "none" : "some");
}
"""


def test_facts_and_readings(tmp_path):
    def compile_(text, name, *more):
        source = tmp_path / f"{name}.cpp"
        source.write_text(text)
        compiler = os.environ.get("CXX", "c++")
        command = [compiler, "-std=c++20", f"-I{ROOT}", source, *more]
        subprocess.run([*command, "-o", tmp_path / name], check=True)

    compile_(DRIVER, "libnvidia-ml.so.1", "-shared", "-fPIC")
    compile_(PROGRAM, "program", ROOT / "backends/cuda/management.cpp", "-ldl")
    printed = subprocess.run(
        [tmp_path / "program"],
        env={"LD_LIBRARY_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert dict(line.split() for line in printed.stdout.splitlines()) == {
        "power_limit_W": "500",
        "power_limit_default_W": "700",
        "mig": "off",
        "other_processes": "2",
        "sm_clock_MHz": "1980",
        "memory_clock_MHz": "3201",
        "temperature_C": "41",
        "joules": "5000000000.5",
        "watts": "none",
    }, "values that cannot be read, here the power, are left out"
