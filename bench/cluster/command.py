# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command ``bench/cluster/submit``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from . import campaign, durations, estimate, script, site_file, slurm
from .campaign import Campaign
from .errors import BadInput
from .options import parse
from .sizes import Size, sizes

ROOT = Path(__file__).resolve().parents[2]
FIRST_POLL_S, LAST_POLL_S = 1.0, 15.0


def say(text: str) -> None:
    """Prints a message to stderr."""
    print(f"submit: {text}", file=sys.stderr, flush=True)


def found(path: Path, what: str) -> Path:
    """A file, looked up here, then in the project."""
    for one in (path, ROOT / path):
        if one.is_file():
            return one.absolute()
    raise BadInput(f"no {what} '{path}', neither here nor in {ROOT}")


def python_of(site: site_file.Site) -> str:
    """The interpreter of the report."""
    own = ROOT / "build/venv/bin/python"
    return site.python or (str(own) if own.exists() else "python3")


def job_time(
    options: argparse.Namespace, site: site_file.Site, work: script.Work
) -> float:
    """The time that a job requests [s]: --time, or League's estimate."""
    if options.time:
        given = durations.seconds(options.time)
        if given > site.max_s:
            raise BadInput(
                f"--time {options.time}: the site allows {site.max_time} (max_time)"
            )
        if given <= site.grace_s:
            raise BadInput(
                f"--time {options.time}: League is interrupted {site.grace_s} s before its end (grace_s)"
            )
        return given
    guess = estimate.estimate(work.executable, work.study, work.options)
    time_s, remark = estimate.walltime(site, guess)
    say(
        f"a launch takes about {guess.whole_s:.0f} s, a job asks for {durations.text(time_s)}{remark}"
    )
    return time_s


def work_of(
    options: argparse.Namespace, site: site_file.Site, league_options: list[str]
) -> script.Work:
    """The work of the jobs: study, executable and site, checked."""
    study = found(options.study, "study")
    executable = found(options.executable or Path(site.executable), "executable")
    if not os.access(executable, os.X_OK):
        raise BadInput(f"{executable} is not executable")
    output = (options.output or ROOT / "build/results/cluster" / study.stem).absolute()
    return script.Work(
        executable, study, output, options.repeat, python_of(site), league_options
    )


def new(options: argparse.Namespace, league_options: list[str]) -> int:
    """Submits a study, or prints the scripts; returns the exit code."""
    if not options.study or not options.site:
        raise BadInput(
            "STUDY and --site FILE are needed (or --status, --resume, --merge DIR); see --help"
        )
    site = site_file.read(options.site)
    wanted = sizes(site, options.nodes, options.gpus_per_node, options.ranks_per_node)
    work = work_of(options, site, league_options)
    kept = begin(work, wanted)
    time_s = job_time(options, site, work)
    scripts = {size.name: script.job(site, work, size, time_s) for size in wanted}
    scripts["report"] = script.report(site, work)
    if options.dry_run:
        for name, text in scripts.items():
            print(f"# == {work.output}/{name}.sh\n{text}")
        return 0
    slurm.need_slurm()
    for size in wanted:
        (work.output / size.name).mkdir(parents=True, exist_ok=True)  # of the logs
    for name, text in scripts.items():
        (work.output / f"{name}.sh").write_text(text, encoding="utf-8")
    for size in wanted:
        kept.repeats[size.name] = work.repeat
        kept.jobs[size.name] = [slurm.submit(str(work.output / f"{size.name}.sh"))]
        kept.save(work.output)
        say(f"job {kept.jobs[size.name][0]}: {size.text}; {work.repeat} launches")
    submit_report(work.output, kept)
    return wait_for(work.output) if options.wait else 0


def begin(work: script.Work, wanted: list[Size]) -> Campaign:
    """The campaign of a folder; raises BadInput where the new sizes do not belong there."""
    if not (work.output / campaign.NAME).exists():
        return Campaign(str(work.study), work.python)
    kept = campaign.read(work.output)
    there = [size.name for size in wanted if size.name in kept.repeats]
    if there or kept.study != str(work.study):
        what = (
            f"{' and '.join(there)} already" if there else f"launches of {kept.study}"
        )
        raise BadInput(
            f"{work.output} holds {what}: --resume {work.output} goes on with it; or give another --output"
        )
    return kept


def submit_report(output: Path, kept: Campaign) -> None:
    """Submits the report job, which runs after all others, whether they pass or fail."""
    others = ":".join(map(str, sorted(kept.all_jobs() - set(kept.reports))))
    kept.reports.append(
        slurm.submit(f"--dependency=afterany:{others}", str(output / "report.sh"))
    )
    kept.save(output)
    say(f"job {kept.reports[-1]}: the report, into {output}")


def resume(output: Path) -> None:
    """Resubmits unfinished launches without a job, on the nodes of their records."""
    slurm.need_slurm()
    kept = campaign.read(output)
    todo: dict[tuple[str, str], list[int]] = {}
    for launch in campaign.launches(output, kept, slurm.queue()):
        if not launch.finished and not launch.job:
            todo.setdefault((launch.size, launch.nodes), []).append(launch.number)
    if not todo:
        say("nothing to resume: each launch is finished or has its job")
        return
    for (size, nodes), numbers in todo.items():
        which = ",".join(map(str, numbers))
        words = [f"--array={which}%1", *([f"--nodelist={nodes}"] if nodes else [])]
        kept.jobs[size].append(slurm.submit(*words, str(output / f"{size}.sh")))
        kept.save(output)
        say(
            f"job {kept.jobs[size][-1]}: {size}, launches {which}{' on ' + nodes if nodes else ''}"
        )
    submit_report(output, kept)


def show(output: Path) -> int:
    """Prints the states; returns the exit code."""
    kept = campaign.read(output)
    launches = campaign.launches(output, kept, slurm.queue())
    for launch in launches:
        print(f"{launch.size:>6} launch {launch.number}: {launch.text}")
    if (output / "report/index.html").exists():
        print(f"report: {output}/report/index.html")
    if any(not launch.finished and not launch.job for launch in launches):
        print(f"to go on: {Path(__file__).parent / 'submit'} --resume {output}")
    return int(any(launch.failed for launch in launches))


def wait_for(output: Path) -> int:
    """Waits for all jobs of the folder, then prints its state."""
    jobs, pause_s = campaign.read(output).all_jobs(), FIRST_POLL_S
    while any(job.id in jobs for job in slurm.queue()):
        time.sleep(pause_s)
        pause_s = min(1.5 * pause_s, LAST_POLL_S)
    return show(output)


def merge(output: Path) -> int:
    """Reports the records so far; returns the exit code."""
    kept = campaign.read(output)
    there = [str(folder) for folder in kept.folders(output) if folder.is_dir()]
    if not there:
        raise BadInput(f"{output}: no launch has begun")
    command = [kept.python, "-m", "bench.report", "--pool-hosts"]
    command += ["--output", str(output), *there]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(command, env=environment, check=False).returncode


def main(argv: list[str]) -> int:
    """Returns the exit code."""
    try:
        options, league_options = parse(argv)
        if options.merge:
            return merge(options.merge.absolute())
        output = options.resume or options.status
        if not output:
            return new(options, league_options)
        if options.resume:
            resume(output.absolute())
        done = options.resume and not options.wait
        return 0 if done else (wait_for if options.wait else show)(output.absolute())
    except BadInput as error:
        say(str(error))
        return 2
