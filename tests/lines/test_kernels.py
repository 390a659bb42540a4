# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compilers and disassemblers say of kernels."""

import pytest

pytest.importorskip("elftools")

from bench.lines.kernels import by_class, by_ptxas, class_of
from bench.report.codes import plain, short

FUSED = "_ZN6league3knn10cuda_model44_GLOBAL__N__d88e0655_7_cuda_cu_42df3556_97305fusedIfEEvT_"
LAMBDA = (
    "_ZN6Kokkos4Impl6launchINS0_11ParallelForIZN46_INTERNAL_13464292_10_kokkos_cpp_42df3556_97836league3knn"
    "12kokkos_model12_GLOBAL__N_15mergeIfEEvT_EUlRKiE_EEEEvS2_"
)
FUNCTOR = "_ZN6Kokkos4Impl6launchINS0_11ParallelForIN6league3knn12kokkos_model7ForRowsIhEEEEEEvT_"
PTXAS = f"""ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '{FUSED}' for 'sm_90'
ptxas info    : Function properties for {FUSED}
    72 bytes stack frame, 80 bytes spill stores, 104 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 72 bytes cumulative stack size, 13328 bytes smem
ptxas info    : Compiling entry function 'small' for 'sm_90'
ptxas info    : Function properties for small
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""
SASS = """\t.section\t.text.small,"ax",@progbits
.text.small:
        .type           small,@function
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E R2, desc[UR10][R2.64] ;
        /*0020*/                   FFMA R2, R2, R2, R3 ;
        /*0030*/              @UP1 UIADD3 UR6, UR6, -0x1, URZ ;
.L_x_1:
        /*0040*/                   EXIT ;
        /*0050*/                   NOP;
.text.other:
        /*0000*/                   HGMMA.64x8x16.F32 R24, gdesc[UR4], RZ ;
"""
AMD = """0000000000001900 <small>:
\ts_load_dwordx2 s[0:1], s[4:5], 0x8   // 000000001900: C0060002
\tv_fmac_f32_e32 v1, v2, v3
\tglobal_store_dword v0, v1, s[0:1]
\ts_endpgm
\ts_nop 0
"""


def test_what_ptxas_says():
    assert by_ptxas(PTXAS) == {
        FUSED: {
            "stack bytes": 72,
            "spilled bytes": 80,
            "registers": 128,
            "shared bytes": 13328,
        },
        "small": {
            "stack bytes": 0,
            "spilled bytes": 0,
            "registers": 8,
            "shared bytes": 0,
        },
    }


def test_instructions_by_class():
    assert by_class(SASS.splitlines()) == {
        "small": {
            "other": 1,
            "global loads": 1,
            "multiply-adds": 1,
            "integer": 1,
            "control": 1,
        },
        "other": {"matrix": 1},
    }
    assert by_class(AMD.splitlines()) == {
        "small": {"other": 1, "multiply-adds": 1, "global stores": 1, "control": 1}
    }


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        ("LDGSTS", "global loads"),
        ("ATOMS", "shared"),
        ("STL", "local"),
        ("F2F", "conversions"),
        ("I2FP", "conversions"),
        ("FSETP", "other float"),
        ("MUFU", "other float"),
        ("DADD", "other float"),
        ("HMMA", "matrix"),
        ("BAR", "control"),
        ("IMAD", "integer"),
        ("ULEA", "integer"),
        ("MOV", "other"),
        ("SHFL", "other"),
        ("v_mfma_f32_32x32x8f16", "matrix"),
        ("ds_read_b128", "shared"),
        ("ds_bpermute_b32", "other"),
        ("v_cvt_f32_u32_e32", "conversions"),
        ("v_pk_mul_f32", "other float"),
        ("v_mov_b32_e32", "other"),
        ("v_add_co_u32_e32", "integer"),
        ("s_cbranch_scc1", "control"),
    ],
)
def test_classes(opcode, name):
    assert class_of(opcode) == name


def test_a_name_is_the_same_in_every_build():
    other = FUSED.replace("44_G", "45_G").replace("_9730", "_19731")
    assert plain(other) == plain(FUSED)
    assert "12_GLOBAL__N_15fusedI" in plain(FUSED) and "d88e0655" not in plain(FUSED)
    assert "ForIZN6league3knn" in plain(LAMBDA)
    assert plain(FUNCTOR) == FUNCTOR
    # a name that ends in a digit before the length, and what only looks like a length
    assert plain(f"_ZN2v1{FUSED[26:]}").startswith("_ZN2v112_GLOBAL__N_15fused")
    assert plain("_ZN9_GLOBAL__N__x") == "_ZN9_GLOBAL__N__x"


def test_short_names():
    names = [short(plain(name)) for name in (FUSED, LAMBDA, FUNCTOR, "small")]
    assert names == ["fused", "merge", "ForRows", "small"]
