# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ReFrame's site configuration, made of a site file: LEAGUE_SITE=FILE, by default the one of two virtual nodes.

Partition ``local``: this machine, without a scheduler. Partition ``slurm``: the cluster of the site file, watched by squeue
(ReFrame's ``slurm`` would need accounting).
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT))  # at the end: ReFrame removes its own entry by position

from bench.cluster import script, site_file

site = site_file.read(
    Path(os.environ.get("LEAGUE_SITE", ROOT / "bench/cluster/sites/local.toml"))
)
# knows the command `module`: ReFrame has no login shell
profile = ["source /etc/profile"] if site.modules else []
environments = [{"name": "league", "features": ["league"]}]
usual = {
    "environs": ["league"],
    "max_jobs": 1,  # two measurements at once would disturb each other
    "extras": {"site": site},
}
site_configuration = {
    "systems": [
        {
            "name": "league",
            "descr": "this machine, and the cluster of a site file",
            "hostnames": [".*"],
            "partitions": [
                {"name": "local", "scheduler": "local", "launcher": "local", **usual},
                {
                    "name": "slurm",
                    "scheduler": "squeue",
                    "launcher": "srun",
                    "access": [*script.account(site), *site.options],
                    "env_vars": list(map(list, site.environment.items())),
                    "prepare_cmds": [*profile, *script.setting(site, {})],
                    "resources": [
                        {
                            "name": "gpu",
                            "options": [site.gpu_option.format(gpus="{gpus}")],
                        }
                    ],
                    **usual,
                },
            ],
        }
    ],
    "environments": environments,
    "general": [{"purge_environment": False, "resolve_module_conflicts": False}],
    "logging": [
        {
            "handlers": [
                {
                    "type": "stream",
                    "name": "stdout",
                    "level": "info",
                    "format": "%(message)s",
                }
            ],
            "handlers_perflog": [
                {
                    "type": "filelog",
                    "prefix": "%(check_system)s/%(check_partition)s",
                    "level": "info",
                    "format": "%(check_result)s|%(check_job_completion_time)s|%(check_display_name)s|%(check_num_tasks)s|%(check_perfvalues)s",
                    "format_perfvars": "%(check_perf_value)s|%(check_perf_unit)s|%(check_perf_ref)s|",
                    "append": True,
                }
            ],
        }
    ],
}
