"""The headers of the loops, which need no Python, give the same bits by every compiler and architecture."""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .test_loops import TOPICS

SOURCES = sorted((Path(__file__).parents[2] / "native" / "bits").glob("*.cpp"))
OPTIONS = (
    "-std=c++17", "-O3", "-ffp-contract=off", "-fno-math-errno", "-Wno-psabi", "-Wno-unused-function",
    "-pthread",
)  # fmt: skip

# What runs the program, and the compiler. Debian has them: clang, g++-aarch64-linux-gnu, qemu-user.
BUILDS = {
    "gcc without optimization": ((), ("g++", "-O0", "-march=x86-64-v2")),
    "clang v2": ((), ("clang++", "-march=x86-64-v2")),
    "clang v3": ((), ("clang++", "-march=x86-64-v3")),
    "gcc aarch64": (("qemu-aarch64",), ("aarch64-linux-gnu-g++", "-static")),
}


def digests(folder, run, compiler):
    program, command = folder / "bits", [compiler[0], *OPTIONS, *compiler[1:]]
    objects = [folder / f"{source.stem}.o" for source in SOURCES]

    def compiled(source, to):
        subprocess.run([*command, "-c", source, "-o", to], check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compiled, SOURCES, objects))
    subprocess.run([*command, *objects, "-o", program], check=True)
    return subprocess.run([*run, program], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed")
    return digests(tmp_path_factory.mktemp("bits"), (), ("g++", "-march=x86-64-v2"))


@pytest.mark.slow
@pytest.mark.parametrize("build", BUILDS)
def test_same_bits(build, expected, tmp_path):
    run, compiler = BUILDS[build]
    for program in (*run, compiler[0]):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    assert digests(tmp_path, run, compiler) == expected


@pytest.mark.slow
def test_every_topic_has_digests(expected):
    names = {line for line in expected.splitlines() if " " not in line}
    assert names == set(TOPICS)


@pytest.mark.slow
@pytest.mark.timeout(1800)  # the compiler takes minutes
def test_sanitizers_find_nothing(expected, tmp_path):
    checks = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
    assert digests(tmp_path, (), ("g++", "-march=x86-64-v2", *checks)) == expected
