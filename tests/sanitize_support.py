# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that stand for league and for compute-sanitizer, and a run of tests/sanitize_gpu with them."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# what a case comes to follows from the method's name
LEAGUE = """#!{python}
import json, os, re, signal, sys, time
from pathlib import Path

here, words = Path(__file__).parent, sys.argv[1:]
if words[0] == "list":
    print((here / "list.json").read_text())
    sys.exit()
study = Path(words[1]).read_text()
method = re.search('methods = "(.*)"', study)[1]
dtypes = json.loads(re.search("dtypes = (.*)", study)[1])
devices = json.loads(re.search("devices = (.*)", study)[1])
shapes = study.split("[[cases]]")[1:]
with open(here / "calls", "a") as file:
    file.write(method + "\\n")
if method == "slow" and not (here / "quick").exists():
    (here / "pid").write_text(str(os.getpid()))
    time.sleep(600)
if method == "bad_input":
    print("league: study.toml: no such key", file=sys.stderr)
    sys.exit(2)
records, code = Path(words[words.index("--records") + 1]), 0
records.mkdir(parents=True)
(records / "run.json").write_text('{{"study": "study"}}')
cases = [(a, b, c) for a in range(len(shapes)) for b in dtypes for c in devices]
for number, (shape, dtype, count) in enumerate(cases):
    row = dict(name=f"knn/{{method}}/{{dtype}}/{{shape}}/{{count}}", status="passed", reason="", check={{}})
    if method == "dies" and number == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if method == "wrong" and number == 0:
        row.update(status="failed", reason="wrong before sampling: value 3")
    if method == "ill_posed" and shape == 0:
        reason = "k = 3: there are 1 training rows"
        row.update(status="failed", reason=reason, check=dict(ill_posed=True))
    if method == "skips" and count > 1 or method == "lacks":
        row.update(status="skipped", reason="needs one device")
    code = max(code, row["status"] == "failed")
    (records / f"{{number}}.json").write_text(json.dumps(dict(benchmarks=[row])))
    print(row["status"], row["name"], flush=True)
sys.exit(code)
"""

SANITIZER = """#!{python}
import re, subprocess, sys
from pathlib import Path

words = sys.argv[1:]
if words == ["--version"]:
    sys.exit(print("Version 2025.3"))
tool = words[words.index("--tool") + 1]
begin = next(i for i, word in enumerate(words) if word.endswith("/league"))
method = re.search('methods = "(.*)"', Path(words[begin + 2]).read_text())[1]
print("========= COMPUTE-SANITIZER", flush=True)
code = subprocess.run(words[begin:]).returncode
print('''{noise}''' if code else "", flush=True)
if method == "breaks":
    sys.exit(print("========= Internal Sanitizer Error: The Sanitizer encountered an error"))
if code < 0:
    print("========= Error: process didn't terminate successfully")
    sys.exit(255)
found = dict(errors=3, warns=0).get(method, 0) if tool != "racecheck" else 0
hazards = dict(errors=(0, 0), hazards=(1, 2)).get(method, (0, 0))
if found:
    print('''{read}''')
if tool == "racecheck":
    found = hazards[0]
    print('''{race}''' if found else "")
    print(f"========= RACECHECK SUMMARY: {{sum(hazards)}} hazards displayed ({{hazards[0]}} error{{'s' * (hazards[0] != 1)}}, {{hazards[1]}} warnings)")
else:
    print(f"========= ERROR SUMMARY: {{found}} errors")
sys.exit(code or (99 if found else 0))
"""

READ = """========= Invalid __global__ read of size 4 bytes
=========     at void league::cuda::direct<float>(float const*)+0x150 in cuda.cu:12
=========     by thread (31,0,0) in block (0,0,0)
=========     Access to 0x7f8 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main in league.cpp:56 [0x1234] in league
========= """
RACE = """========= Error: Race reported between Write access at void add()+0x1b0 in sum.cu:10
=========     and Read access at void add()+0x210 in sum.cu:12 [4096 hazards]
========= """
NOISE = "========= Target application returned an error"


def parameter(name, kind, default, least, most):
    return {
        "name": name,
        "kind": kind,
        "default": str(default),
        "min": least,
        "max": most,
        "choices": [],
        "description": "",
    }


def listing(methods, gpus=1):
    """What `league list --json` says of an algorithm with these methods in CUDA, and of more that is not ready."""
    ready = {"name": "cuda", "device": "gpu", "state": "ready", "reason": ""}
    others = [
        {"name": "openmp", "device": "host", "state": "ready", "reason": ""},
        {"name": "hip", "device": "gpu", "state": "not_built", "reason": "not built"},
    ]
    return {
        "devices": [{"kind": "host"}, *({"kind": "gpu"} for _ in range(gpus))],
        "algorithms": [
            {
                "name": "knn",
                "needs_dataset": True,
                "parameters": [
                    parameter("train", "size", 0, 0, 2**40),
                    parameter("features", "size", 0, 0, 64),
                    parameter("k", "integer", 3, 1, 64),
                ],
                "methods": [
                    {
                        "name": name,
                        "dtypes": ["f32", "u8"],
                        "models": [ready, *others],
                    }
                    for name in methods
                ],
            }
        ],
    }


class Bench:
    """The two programs in a folder, and what they were called for."""

    def __init__(self, folder, methods, gpus=1):
        self.folder = folder
        self.league = folder / "league"
        self.output = folder / "out"
        self.write("list.json", json.dumps(listing(methods, gpus)))
        values = {"python": sys.executable, "read": READ, "race": RACE, "noise": NOISE}
        for name, text in (("league", LEAGUE), ("compute-sanitizer", SANITIZER)):
            self.write(name, text.format(**values)).chmod(0o755)

    def write(self, name, text):
        file = self.folder / name
        file.write_text(text)
        return file

    def start(self, *options):
        command = [sys.executable, ROOT / "tests/sanitize_gpu"]
        command += ["--executable", self.league, "--output", self.output, *options]
        path = f"{self.folder}{os.pathsep}{os.environ['PATH']}"
        return subprocess.Popen(
            list(map(str, command)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**os.environ, "PATH": path},
        )

    def run(self, *options):
        """Exit code, standard output, standard error."""
        process = self.start(*options)
        out, err = process.communicate()
        return process.returncode, out, err

    def units(self):
        whole = json.loads((self.output / "summary.json").read_text())
        return {(one["variant"], one["tool"]): one for one in whole["units"]}

    def calls(self):
        file = self.folder / "calls"
        return file.read_text().split() if file.exists() else []
