# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts from the driver get the right names; with a fake driver library."""

import os
import subprocess
from pathlib import Path

import pytest

from bench.report import __main__ as report

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


REASONS = """
#include <cstdlib>
extern "C" int nvmlDeviceGetCurrentClocks%sReasons(void*, unsigned long long* reasons) {
  static int sample = 0;
  return *reasons = std::strtoull(std::getenv("REASONS") + 4 * sample++, nullptr, 16), 0;
}
"""
SAMPLES = """
#include <cstdio>
#include "backends/cuda/management.hpp"
int main() {
  const league::cuda::Management management;
  for (int sample = 0; sample < 9; ++sample)
    for (const auto& metric : management.sample_metrics("0"))
      std::printf("%s %g %d\\n", metric.name.c_str(), metric.value, metric.marks);
}
"""


@pytest.fixture
def printed(tmp_path):
    """printed(driver, program, ...) -> what the program prints in words, with a driver library of this source."""

    def run(driver, program, **variables):
        def compile_(text, name, *more):
            source = tmp_path / f"{name}.cpp"
            source.write_text(text)
            compiler = os.environ.get("CXX", "c++")
            command = [compiler, "-std=c++20", f"-I{ROOT}", source, *more]
            subprocess.run([*command, "-o", tmp_path / name], check=True)

        compile_(driver, "libnvidia-ml.so.1", "-shared", "-fPIC")
        compile_(program, "program", ROOT / "backends/cuda/management.cpp", "-ldl")
        done = subprocess.run(
            [tmp_path / "program"],
            env={"LD_LIBRARY_PATH": str(tmp_path), **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        return [line.split() for line in done.stdout.splitlines()]

    return run


def test_facts_and_readings(printed):
    assert dict(printed(DRIVER, PROGRAM)) == {
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


@pytest.mark.parametrize("name", ["Throttle", "Event"])
def test_throttled_samples_are_marked(printed, entry, save, capsys, name):
    # the last four: idle, clocks that somebody has set, GPUs that follow another's clock
    bits = ["004", "020", "048", "08c", "008", "001", "002", "010", "100"]
    lines = printed(DRIVER + REASONS % name, SAMPLES, REASONS=" ".join(bits))
    found = {}
    for metric, value, marks in lines:
        found.setdefault(metric, []).append(float(value))
        assert marks == "1"
    assert found == {
        "throttled_by_power_cap": [1, 0, 0, 1, 0, 0, 0, 0, 0],
        "throttled_by_hardware_slowdown": [0, 0, 0, 0, 1, 0, 0, 0, 0],
        "throttled_by_heat": [0, 1, 1, 0, 0, 0, 0, 0, 0],
        "throttled_by_power_brake": [0, 0, 0, 1, 0, 0, 0, 0, 0],
    }
    rest = {"unit": "", "of": "sample", "marks": True}
    metrics = [{"name": key, "values": values, **rest} for key, values in found.items()]
    folder = save([entry("cuda", [1e-3] * 9, metrics=metrics)])
    assert report.main([str(folder)]) == 0
    assert (
        "throttled by heat: 2 of 9 samples, in 1 of 1 cases" in capsys.readouterr().out
    )
    for file in ("table.md", "report/index.html"):
        text = (folder / file).read_text(encoding="utf-8")
        assert "throttled by power brake" in text and "1 of 9 samples" in text


def test_without_the_reasons_there_is_no_metric(printed):
    assert printed(DRIVER, SAMPLES) == []
