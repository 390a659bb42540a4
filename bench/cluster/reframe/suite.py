# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""League's studies as tests of ReFrame: ``reframe -C settings.py -c suite.py --system league:slurm -r``.

Another study, or other sizes: ``-P study=configs/scaling.toml -P nodes=1,2,4``. Each case is a performance variable, the
median of its samples; its reference is the published one of the same device, where there is one.
"""

import os
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import (
    parameter,
    performance_function,
    run_before,
    sanity_function,
    variable,
)

from bench.cluster import script
from bench.cluster.references import references, seconds, timed
from bench.cluster.sizes import one
from bench.report import merge

ROOT = Path(__file__).resolve().parents[3]


@rfm.simple_test
class Study(rfm.RunOnlyRegressionTest):
    """A launch of the program at one size."""

    study = parameter(["configs/quick.toml"], type=str, loggable=True)
    nodes = parameter([1], type=int, loggable=True)
    gpus_per_node = variable(int, value=0)  # 0: all that the site has
    league_options = variable(typ.List[str], value=[])
    slower = variable(float, value=0.25)  # than the reference by this share: fails
    valid_systems = ["league:local", "league:slurm"]  # noqa: RUF012
    valid_prog_environs = ["league"]  # noqa: RUF012
    time_limit = "1h"

    @run_before("run")
    def lay_out(self):
        """Ranks, cores and GPUs as `bench/cluster/submit` would."""
        site = self.current_partition.extras["site"]
        on_slurm = self.current_partition.name == "slurm"
        self.skip_if(not on_slurm and self.nodes > 1, "one machine")
        size = one(site, self.nodes, self.gpus_per_node or site.gpus_per_node, 0)
        self.executable = str(ROOT / site.executable)
        study = ROOT / self.study  # or an absolute path
        self.executable_opts = [
            "run",
            str(study),
            "--records",
            "records",
            *self.league_options,
        ]
        cores = size.cores if on_slurm else len(os.sched_getaffinity(0))
        self.env_vars = {"OMP_NUM_THREADS": str(cores), **script.BINDING}
        if not on_slurm:
            return
        self.num_tasks, self.num_tasks_per_node = size.nodes * size.ranks, size.ranks
        self.num_cpus_per_task = size.cores
        self.executable_opts += ["--devices", str(size.devices)]
        if size.gpus:
            self.extra_resources = {"gpu": {"gpus": size.gpus}}
        self.job.launcher.options = script.srun(site, size)[1:]

    @sanity_function
    def rows_passed(self):
        """A row passed, none FAILED, every case has one."""
        cases, problems = merge.load([Path(self.stagedir)])
        failed = [
            f"{case.name}: {case.reason}" for case in cases if case.status == "failed"
        ]
        passed = sum(case.status == "passed" for case in cases)
        return sn.all(
            [
                sn.assert_eq(problems, [], "records: {0}"),
                sn.assert_eq(failed, [], "FAILED: {0}"),
                sn.assert_gt(passed, 0, "no row passed"),
            ]
        )

    @run_before("performance")
    def times(self):
        """The medians, and what was published of them."""
        cases, _ = merge.load([Path(self.stagedir)])
        published = references(cases)
        where = self.current_partition.fullname
        expected = {}
        for case in timed(cases):
            name = case.name.replace(":", "=")  # a colon ends the scope of a reference
            value = performance_function("s")(lambda _, case=case: seconds(case))
            self.perf_variables[name] = value(self)
            if case.name in published:
                expected[name] = (published[case.name], None, self.slower, "s")
        if expected:
            self.reference = {where: expected}
