# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""League for Spack: ``spack repo add bench/packaging/spack``, then in the project ``spack dev-build league@main``."""

import contextlib
from pathlib import Path

from spack.package import *

with contextlib.suppress(ImportError):  # before Spack 1.0 they are in spack.package
    from spack_repo.builtin.build_systems.cmake import CMakePackage
    from spack_repo.builtin.build_systems.cuda import CudaPackage
    from spack_repo.builtin.build_systems.rocm import ROCmPackage

CHECKOUT = Path(__file__).resolve().parents[5]  # cloned where nothing else is named


class League(CMakePackage, CudaPackage, ROCmPackage):
    """A performance-portability study suite: Kokkos beside native kernels and libraries."""

    git = CHECKOUT.as_uri()
    version("main", branch="main")
    license("Apache-2.0 WITH LLVM-exception")

    variant("mpi", default=False, description="Runs of several processes")
    variant("onednn", default=False, description="Variants of oneDNN")

    for language in ("c", "cxx"):
        depends_on(language, type="build")
    depends_on("cmake@3.25.2:", type="build")
    depends_on("ninja", type="build")
    generator("ninja")
    depends_on("googlebenchmark@1.7.1:")
    depends_on("tomlplusplus")
    depends_on("cli11")
    depends_on("nlohmann-json")
    depends_on("re2")
    depends_on("zlib-api")
    depends_on("kokkos@4.7:5 +serial+openmp cxxstd=20")
    depends_on("kokkos+cuda", when="+cuda")
    depends_on("kokkos+rocm", when="+rocm")
    for architecture in CudaPackage.cuda_arch_values:
        name = f"cuda_arch={architecture}"
        depends_on(f"kokkos {name}", when=f"+cuda {name}")
    for target in ROCmPackage.amdgpu_targets:
        name = f"amdgpu_target={target}"
        depends_on(f"kokkos {name}", when=f"+rocm {name}")
    depends_on("cuda@12.2:", when="+cuda")
    depends_on("rocprim", when="+rocm")
    depends_on("rocblas", when="+rocm")
    depends_on("mpi", when="+mpi")
    depends_on("onednn@2:", when="+onednn")
    # of bench/run and its report
    depends_on("python@3.10:", type="run")
    for package in ("py-msgspec", "py-numpy", "py-matplotlib", "py-jinja2"):
        depends_on(package, type="run")
    conflicts("+cuda", when="+rocm")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU: cuda_arch=90")

    def cmake_args(self):
        """The options that a preset would set; Kokkos is found, and held to them."""
        args = [
            self.define("LEAGUE_PRESET", "spack"),
            self.define("LEAGUE_ARCH", "native"),
            self.define("LEAGUE_TESTS", False),
            self.define("Kokkos_ENABLE_SERIAL", True),
            self.define("Kokkos_ENABLE_OPENMP", True),
            self.define_from_variant("LEAGUE_MPI", "mpi"),
            self.define_from_variant("LEAGUE_ONEDNN", "onednn"),
            self.define_from_variant("LEAGUE_CUDA", "cuda"),
            self.define_from_variant("Kokkos_ENABLE_CUDA", "cuda"),
            self.define_from_variant("LEAGUE_HIP", "rocm"),
            self.define_from_variant("Kokkos_ENABLE_HIP", "rocm"),
        ]
        if "+cuda" in self.spec:
            architecture = self.spec.variants["cuda_arch"].value[0]
            args.append(self.define("LEAGUE_CUDA_ARCH", architecture))
        if "+rocm" in self.spec:
            targets = ";".join(self.spec.variants["amdgpu_target"].value)
            args.append(self.define("CMAKE_HIP_ARCHITECTURES", targets))
        return args

    def install(self, spec, prefix):
        """The executable with the libraries beside it, and what ``bench/run --no-build`` reads."""
        with working_dir(self.build_directory):
            mkdirp(prefix.bin)
            install("league", prefix.bin)
            for library in find(".", "lib*.so*", recursive=False):
                install(library, prefix.bin)
        for folder in ("algorithms", "backends", "bench", "configs"):
            install_tree(folder, join_path(prefix.share.league, folder))
