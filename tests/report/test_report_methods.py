# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a method's unit and name tell: the reach of Kokkos' API, and the precision class."""

import pytest

from bench.report.methods import beyond_api, on_matrix_units, precision


@pytest.mark.parametrize(
    "method, unit, beyond, units",
    [
        ("fused", "f32", False, False),
        ("persistent", "f32", False, False),
        ("moments", "f64", False, False),
        ("fused_i8", "u8 tensor", True, True),  # by the unit alone
        ("gram", "tf32 tensor", True, True),
        ("wgmma_symmetric", "f16 tensor", True, True),
        ("newton_mma", "f32", True, True),  # by the name alone, in old records
        ("tensor_dense_bf16", "f32", True, True),
        ("persistent_cluster", "f32", True, False),
    ],
)
def test_what_the_api_cannot_say(entry, rows_of, method, unit, beyond, units):
    (row,) = rows_of([entry("cuda", [1.0], method=method, unit=unit)])
    assert (beyond_api(row.case), on_matrix_units(row.case)) == (beyond, units)


@pytest.mark.parametrize(
    "method, expected",
    [
        ("direct", "f32"),
        ("tensor_bf16", "bf16"),
        ("layers_tf32", "tf32"),
        ("tf32x3", "f32"),  # three products for the bound of f32
        ("bf16", "f32"),  # exact: k-NN of bytes
        ("fused_f16", "f32"),
    ],
)
def test_the_class_is_the_bound_that_a_method_is_held_to(
    entry, rows_of, method, expected
):
    (row,) = rows_of([entry("cuda", [1.0], method=method)])
    assert precision(row.case) == expected
