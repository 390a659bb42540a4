# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of OpenMP, allocators, libraries and the system that change times: said, recorded, never mixed."""

import pytest

from tests.bench.study_run import BOUND, is_built, league, not_mixed, preflight_of

pytestmark = is_built


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("OMP_WAIT_POLICY", "passive", "threads sleep between kernels"),
        ("GOMP_SPINCOUNT", "0", "threads sleep between kernels"),
        ("MALLOC_PERTURB_", "85", "each allocation is"),
        ("GLIBC_TUNABLES", "glibc.malloc.perturb=85", "each allocation is"),
        ("DNNL_MAX_CPU_ISA", "SSE41", "libraries use fewer instructions"),
        ("ONEDNN_VERBOSE", "1", "prints a line for each of its kernels"),
        ("ONEDNN_DEFAULT_FPMATH_MODE", "BF16", "in fewer bits"),
    ],
)
def test_variables_that_change_times(tmp_path, name, value, what):
    done = league(tmp_path, variables={**BOUND, name: value})
    said = preflight_of(done, tmp_path)
    assert f"{name}={value}: " in said and what in said
    assert not_mixed(tmp_path, variables=BOUND)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OMP_WAIT_POLICY", "ACTIVE"),
        ("MALLOC_PERTURB_", "0"),
        ("DNNL_MAX_CPU_ISA", "ALL"),
        ("ONEDNN_DEFAULT_FPMATH_MODE", "STRICT"),
    ],
)
def test_values_that_change_nothing(tmp_path, name, value):
    done = league(tmp_path, variables={**BOUND, name: value})
    assert name not in preflight_of(done, tmp_path)
