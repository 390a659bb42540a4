# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rule of the model `kokkos`: one body for every device, in Kokkos' API and C++ alone."""

import re
from functools import cache

import pytest
from test_house import FILES, includes, read

# Algorithms whose kernels are not written once yet; their `kokkos` registers several bodies.
NOT_YET = {"ceilings", "overheads"}
# What such a kernel may include of the blocks. The first five may differ inside by kind of device.
BY_KIND = (
    "numbers_kokkos",
    "packs_kokkos",
    "share_kokkos",
    "staged_kokkos",
    "vectorised",
)
BLOCKS = (
    *(*BY_KIND, "once_per_team_kokkos", "items_kokkos", "point_panels_kokkos"),
    *("register_tile_kokkos", "pack", "exponentials", "term", "unrolled"),
    *("team_sums_kokkos", "shard_sums_kokkos", "definite_solve_kokkos"),
    *("moment_descent", "recomputed", "k_best", "plain_element", "optimizer"),
)
# Headers that know no device code: what the harness calls, and pure functions of values.
HARNESS = ("contract", "drivers", "oracle")

KERNELS = [
    n
    for n in FILES
    if re.fullmatch(r"algorithms/\w+/(\w+/)?kokkos\w*\.cpp", n)
    and not re.search(r"/kokkos_(specialised|kernels)\w*\.cpp", n)
]
ONCE = [
    n for n in KERNELS if not any(n.startswith(f"algorithms/{o}/") for o in NOT_YET)
]

RULES = {
    "asks for the kind of device": r"\bon_gpu\b|\bSpaceAccessibility\b|DeviceKind::(gpu|host)|is_same(_v)?<[^;]*Kokkos::(Cuda|HIP|OpenMP|Serial)\b"
    r"|\bKOKKOS_(ENABLE_(CUDA|HIP|OPENMP|SERIAL)|IF_ON_(HOST|DEVICE))\b|\b__(CUDA_ARCH|CUDACC|HIPCC|HIP_DEVICE_COMPILE)__\b",
    "is named for a kind of device": r"\b(?:struct|class|using)\s+\w*(?:Gpu|GPU|Host|Cuda|Hip)\w*\b|\b(?:void|auto|int|bool|T|V)\s+\w*(?:_gpu|gpu_|_host|host_)\w*\s*\(",
    "reinterprets memory": r"\breinterpret_cast\b|\bbit_cast\b",
    "takes the address of a View's memory": r"(?:\.|->)data\(\)|\bptr_on_device\b",
    "computes with the number of a thread": r"\bteam_rank\(\)|\b(?:thread|block)Idx\b|\bomp_get_thread_num\b|\b(?:team_group|native_group|threads_of)\b|\bTeamThreads\b",
    "makes a number a condition": r"(?:\bnumbers(?:<\w+>)?|\bfinish_numbers|\bhere(?:<\w+>)?)\s*\.\s*\w+\s*(?:[<>]=?|[!=]=)\s*\d|\bif\s+constexpr\s*\([^)]*\bnumbers\b"
    r"|\bconditional_t<[^;]*\bnumbers\b",
    "is of an architecture": r"\b_mm\d*_\w+|\basm\b|\b__asm__\b|\b__(?:shfl|ldg|ldcg|ldcs|stcs|byte_perm|ballot|reduce|syncthreads|syncwarp|threadfence)\w*\s*\(|\b__builtin_(?:ia32|amdgcn|nontemporal)\w*",
}


OF_KERNELS = ("reinterprets memory", "takes the address of a View's memory")


@cache
def code(name):
    """The text of a file without its comments and strings."""
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', read(name))
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def parts(name):
    """A kernel's file, and what it includes below algorithms/ but the harness and the blocks."""
    todo, done = [name], set()
    while todo:
        here = todo.pop()
        if here in done:
            continue
        done.add(here)
        for target in includes(read(here))[0]:
            folders = target.split("/")
            if folders[0] == "algorithms" and folders[1] not in ("blocks", *HARNESS):
                todo.append(target)
    return sorted(done)


def broken(text, rules=RULES):
    """The rules that a text breaks, each with the code that does."""
    return [
        f"{rule}: {found[0]}"
        for rule in rules
        if (found := re.search(RULES[rule], text))
    ]


def rules_of(part):
    """Host orchestration that all models share may use pointers; kernels may not."""
    if part.rsplit("/", 1)[-1].startswith("kokkos"):
        return tuple(RULES)
    return tuple(rule for rule in RULES if rule not in OF_KERNELS)


def lanes_of_natives(name):
    """Parts that hold device code of the native kernels, by the names of such files."""
    return [n for n in parts(name) if re.search(r"/(lanes|kernel|host)\.hpp$", n)]


@pytest.mark.parametrize("name", ONCE)
def test_one_body_for_every_device(name):
    wrong = [
        f"{part} {why}"
        for part in parts(name)
        for why in broken(code(part), rules_of(part))
    ]
    wrong += [
        f"{part}: device code of the native kernels" for part in lanes_of_natives(name)
    ]
    for part in parts(name):
        blocks = re.findall(
            r"algorithms/blocks/(\w+)\.hpp", "\n".join(includes(read(part))[0])
        )
        wrong += [f"{part} includes the block {b}" for b in blocks if b not in BLOCKS]
    assert not wrong


@pytest.mark.parametrize("name", ONCE)
def test_it_says_so(name):
    """Its registrations say how many bodies there are; only what obeys may say one."""
    own = "\n".join(code(part) for part in parts(name) if "/kokkos" in part)
    assert re.search(r"\bwritten_once\b", own), "registers several bodies"
    assert "several_bodies" not in own


@pytest.mark.parametrize("name", sorted(set(KERNELS) - set(ONCE)))
def test_what_does_not_obey_yet_does_not_say_so(name):
    assert not re.search(r"\bwritten_once\b", code(name))


@pytest.mark.parametrize("other", sorted(NOT_YET))
def test_the_list_of_what_does_not_obey_yet_is_short(other):
    """What has kernels that all obey leaves the list."""
    kernels = [n for n in KERNELS if n.startswith(f"algorithms/{other}/")]
    assert kernels
    assert any(
        broken(code(part), rules_of(part)) or not re.search(r"written_once", code(part))
        for n in kernels
        for part in parts(n)
    )


@pytest.mark.parametrize("block", [b for b in BLOCKS if b not in BY_KIND])
def test_the_other_blocks_obey_too(block):
    """Of `items_kokkos` only the limits of a launch, on the host, ask for the kind."""
    text = code(f"algorithms/blocks/{block}.hpp")
    assert not broken(
        re.sub(r"inline LaunchLimits naive_limits.*?\n}", "", text, flags=re.DOTALL)
    )


PLANTED = {
    "asks for the kind of device": [
        "if constexpr (on_gpu) sum(i) = a(i);",
        "return kokkos::on_gpu ? 1 : 4;",
        "KOKKOS_IF_ON_HOST((sum(i) = 0;))",
        "if (std::is_same_v<Exec, Kokkos::OpenMP>) return;",
        "#if defined(KOKKOS_ENABLE_CUDA)",
    ],
    "is named for a kind of device": ["class OnHost final {", "void add_gpu(int n) {"],
    "reinterprets memory": ["auto* p = reinterpret_cast<float4*>(x);"],
    "takes the address of a View's memory": ["const T* p = a.data();"],
    "computes with the number of a thread": [
        "const int lane = team.team_rank();",
        "const auto group = blocks::team_group(team, 8);",
    ],
    "makes a number a condition": [
        "if (numbers<T>.width > 1) wide(); else narrow();",
        "if constexpr (numbers.depth == 1) return;",
        "using Bounds = std::conditional_t<numbers.width == 1, A, B>;",
    ],
    "is of an architecture": ['asm volatile("");', "__syncwarp();"],
}


@pytest.mark.parametrize("rule", RULES)
def test_planted_violations_are_found(rule):
    for planted in PLANTED[rule]:
        assert any(why.startswith(rule) for why in broken(planted)), planted


def test_what_is_allowed_is_not_found():
    for allowed in (
        "for (int k = 0; k < numbers.width; ++k) sum += pack.values[k];",
        "const int run = std::max(1, ceil_div(numbers<T>.tile, chunk));",
        "for (auto i = team.league_rank(); i < n; i += team.league_size()) f(i);",
        "// on a host a.data() would do",
        "const int lanes = team.team_size();",
        "blocks::share(lane, lanes, n)",
    ):
        assert not broken(re.sub(r"//[^\n]*", "", allowed)), allowed


@pytest.mark.parametrize("name", ONCE)
def test_numbers_are_frozen(name):
    """Integers of the file, at most eight for each kind of device; measured ones are not made up at run time."""
    for part in parts(name):
        for table in re.findall(r"by_kind\((.*?)\);", code(part), flags=re.DOTALL):
            kinds = re.findall(
                r"\{(\.\w+ = .*?)\}(?=\s*[,)]|\s*$)", table, flags=re.DOTALL
            )
            assert len(kinds) == 2, table
            for kind in kinds:
                assert 1 <= len(re.findall(r"\.\w+ =", kind)) <= 8, kind
