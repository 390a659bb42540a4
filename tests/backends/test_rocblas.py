# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files of cuBLAS compile as rocBLAS: against declarations written here, where there is no rocBLAS."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLANG = shutil.which("clang++-19")
FILES = sorted(p.relative_to(ROOT) for p in ROOT.glob("algorithms/*/cublas*.cu"))
# from the documentation of rocBLAS: types, status, handle, workspace; level 2 and 3
DECLARED = """
#pragma once
#include <hip/hip_runtime.h>
#include <cstdint>
extern "C" {
typedef struct _rocblas_handle* rocblas_handle;
typedef int32_t rocblas_int;
typedef int64_t rocblas_stride;
typedef enum rocblas_status_ { rocblas_status_success = 0, rocblas_status_not_implemented = 2 } rocblas_status;
typedef enum rocblas_operation_ { rocblas_operation_none = 111, rocblas_operation_transpose = 112 } rocblas_operation;
const char* rocblas_status_to_string(rocblas_status);
rocblas_status rocblas_create_handle(rocblas_handle*);
rocblas_status rocblas_destroy_handle(rocblas_handle);
rocblas_status rocblas_set_stream(rocblas_handle, hipStream_t);
rocblas_status rocblas_set_workspace(rocblas_handle, void*, size_t);
#define LEVELS(T, prefix) \\
rocblas_status rocblas_##prefix##gemv(rocblas_handle, rocblas_operation, rocblas_int m, rocblas_int n, \\
    const T* alpha, const T* a, rocblas_int lda, const T* x, rocblas_int incx, const T* beta, T* y, rocblas_int); \\
rocblas_status rocblas_##prefix##gemm(rocblas_handle, rocblas_operation, rocblas_operation, rocblas_int m, \\
    rocblas_int n, rocblas_int k, const T* alpha, const T* a, rocblas_int lda, const T* b, rocblas_int ldb, \\
    const T* beta, T* c, rocblas_int ldc); \\
rocblas_status rocblas_##prefix##gemm_strided_batched(rocblas_handle, rocblas_operation, rocblas_operation, \\
    rocblas_int m, rocblas_int n, rocblas_int k, const T* alpha, const T* a, rocblas_int lda, rocblas_stride, \\
    const T* b, rocblas_int ldb, rocblas_stride, const T* beta, T* c, rocblas_int ldc, rocblas_stride, rocblas_int);
LEVELS(float, s)
LEVELS(double, d)
}
"""


@pytest.mark.skipif(
    not CLANG or not Path("/usr/include/hip/hip_runtime.h").exists(),
    reason="needs clang++-19 and HIP's headers",
)
@pytest.mark.parametrize("file", FILES, ids=str)
def test_files_of_cublas_compile_as_rocblas(file, tmp_path):
    header = tmp_path / "rocblas/rocblas.h"
    header.parent.mkdir()
    header.write_text(DECLARED)
    flags = "-x hip --offload-host-only -std=c++20 -fsyntax-only --rocm-path=/usr -D__HIP_PLATFORM_AMD__"
    folders = [f"-I{tmp_path}", f"-I{ROOT}", f"-I{ROOT}/backends/hip/include"]
    command = [CLANG, *flags.split(), "-Wall", "-Werror", *folders, ROOT / file]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
