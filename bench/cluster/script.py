# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The job scripts, as text."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from . import durations
from .site_file import Site
from .sizes import Size

HERE = Path(__file__).resolve().parent
BINDING = {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
REPORT_S = 900


@dataclass(frozen=True)
class Work:
    """What is run, and where its records go."""

    executable: Path
    study: Path
    output: Path
    repeat: int
    python: str  # of the report
    options: list[str]  # of `league run`


def directives(options: list[str]) -> list[str]:
    """Lines that sbatch reads."""
    return [f"#SBATCH {shlex.quote(option)}" for option in options]


def setting(site: Site, environment: dict[str, str]) -> list[str]:
    """Modules, variables and the site's own lines."""
    modules = " ".join(map(shlex.quote, site.modules))
    lines = [f"module load {modules}"] if modules else []
    lines += [
        f"export {key}={shlex.quote(value)}" for key, value in environment.items()
    ]
    return lines + site.prologue.strip("\n").splitlines()


def shell(site: Site) -> str:
    """A login shell where modules are loaded: it knows the command."""
    return "#!/bin/bash -l" if site.modules else "#!/bin/bash"


def account(site: Site) -> list[str]:
    """Account and partition; sbatch's own variables (SBATCH_ACCOUNT, ...) take precedence."""
    named = (("partition", site.partition), ("account", site.account))
    return [f"--{key}={value}" for key, value in named if value]


def srun(site: Site, size: Size) -> list[str]:
    """srun: all GPUs of a node stay visible to its ranks, since peer access needs that."""
    return [
        "srun",
        f"--mpi={site.mpi}",
        "--gpu-bind=none",
        "--kill-on-bad-exit=1",
        f"--nodes={size.nodes}",
        f"--ntasks={size.nodes * size.ranks}",
        f"--ntasks-per-node={size.ranks}",
        f"--cpus-per-task={size.cores}",  # srun does not take it from the job
        *site.srun_options,
    ]


def league(work: Work, size: Size) -> str:
    """``--resume`` always: without records it starts anew."""
    words = [str(work.executable), "run", str(work.study), *work.options]
    words += ["--devices", str(size.devices), "--resume"]
    return shlex.join(words) + ' --records "$launch/records"'


def job(site: Site, work: Work, size: Size, time_s: float) -> str:
    """The script of one size: an array, one launch of League after the other."""
    folder = work.output / size.name
    options = [
        f"--job-name=league-{work.study.stem}-{size.name}",
        f"--output={folder}/slurm-%a.out",
        "--open-mode=append",  # a resumed job goes on in its log
        *account(site),
        f"--nodes={size.nodes}",
        f"--ntasks-per-node={size.ranks}",
        f"--cpus-per-task={size.cores}",
        *([site.gpu_option.format(gpus=size.gpus)] if size.gpus else []),
        f"--time={durations.text(time_s)}",
        f"--signal=B:USR1@{site.grace_s}",
        "--requeue",
        f"--array=0-{work.repeat - 1}%1",
        *site.options,
    ]
    threads = {"OMP_NUM_THREADS": str(size.cores), **BINDING}
    lines = [
        shell(site),
        *directives(options),
        f"# {work.study.name} on {size.text}; written by bench/cluster/submit",
        *setting(site, {**threads, **site.environment}),
        f"launch={shlex.quote(str(folder))}/$SLURM_ARRAY_TASK_ID",
        f'exec {shlex.quote(str(HERE / "launch"))} "$launch" {site.resumes} \\',
        f"  {shlex.join(srun(site, size))} \\",
        f"  {league(work, size)}",
    ]
    return "\n".join(lines) + "\n"


def report(site: Site, work: Work) -> str:
    """The script of the report, after all launches."""
    options = [
        f"--job-name=league-{work.study.stem}-report",
        f"--output={work.output}/report.out",
        *account(site),
        "--nodes=1",
        "--ntasks=1",
        f"--time={durations.text(REPORT_S)}",
        *site.report_options,
    ]
    words = [work.python, str(HERE / "submit"), "--merge", str(work.output)]
    lines = [shell(site), *directives(options), *setting(site, site.environment)]
    return "\n".join([*lines, f"exec {shlex.join(words)}"]) + "\n"
