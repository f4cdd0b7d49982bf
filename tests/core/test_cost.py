"""Memory that a process may take: of the machine, or of the cgroups of a container or a batch job."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest

from suffice.core import cost

GB = 1 << 30


def system(root, cgroup, files, available=64 * GB):
    """A folder with the files that a Linux system shows to a process."""
    files = {"proc/self/cgroup": cgroup, "proc/meminfo": f"MemAvailable: {available // 1024} kB", **files}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    return root


V2 = "sys/fs/cgroup"
V1 = "sys/fs/cgroup/memory"
SYSTEMS = {
    "no cgroup": ("", {}, None),
    "v2, in a container": ("0::/", {f"{V2}/memory.max": 2 * GB}, f"{V2}/memory.max"),
    "v2, without a limit": ("0::/a", {f"{V2}/a/memory.max": "max"}, None),
    "v2, of a batch job": (
        "0::/slurm/job_7/step_0",
        {f"{V2}/slurm/job_7/memory.max": 2 * GB, f"{V2}/slurm/job_7/step_0/memory.max": "max"},
        f"{V2}/slurm/job_7/memory.max",
    ),
    "v2, the least of several": (
        "0::/a/b",
        {f"{V2}/a/memory.max": 3 * GB, f"{V2}/a/b/memory.max": 2 * GB},
        f"{V2}/a/b/memory.max",
    ),
    "v2, outside of its namespace": ("0::/../other", {f"{V2}/memory.max": 2 * GB}, f"{V2}/memory.max"),
    "v1": (
        "5:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n0::/",
        {f"{V1}/docker/1/memory.limit_in_bytes": 2 * GB},
        f"{V1}/docker/1/memory.limit_in_bytes",
    ),
    "v1, with the path of the host": (
        "4:hugetlb,memory:/docker/1",
        {f"{V1}/memory.limit_in_bytes": 2 * GB},
        f"{V1}/memory.limit_in_bytes",
    ),
    "v1, without a limit": ("4:memory:/", {f"{V1}/memory.limit_in_bytes": 9223372036854771712}, None),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_limit_is_the_least_of_machine_and_cgroups(name, tmp_path, monkeypatch):
    cgroup, files, limiting = SYSTEMS[name]
    monkeypatch.setattr(cost, "physical_memory", lambda: 64.0 * GB)
    root = system(tmp_path, cgroup, files)
    memory, whose = cost.memory_limit(root)
    assert memory == (64 * GB if limiting is None else 2 * GB)
    assert (str(root / limiting) in whose) if limiting else whose == "this machine has"


def test_refusal_says_which_limit_it_is(tmp_path, monkeypatch):
    """Half a gigabyte is a quarter of the limit of the container, and a small part of the machine."""
    monkeypatch.setattr(cost, "physical_memory", lambda: 64.0 * GB)
    limited = cost.memory_limit(system(tmp_path, "0::/", {f"{V2}/memory.max": 2 * GB}))
    monkeypatch.setattr(cost, "memory_limit", lambda: limited)
    cost.afford(0.4 * GB / 8, "the moments", "use fewer.")
    with pytest.raises(MemoryError, match=r"the limit of its cgroup \(.*memory\.max\) is 2\.15: use fewer\."):
        cost.afford(0.6 * GB / 8, "the moments", "use fewer.")


@pytest.mark.parametrize(("version", "name"), [(V2, "inactive_file"), (V1, "total_inactive_file")])
def test_free_memory_counts_the_page_cache_as_free(version, name, tmp_path):
    """Files that were read fill a container; the system gives their pages back."""
    limit, used, _ = cost.FILES_V1 if version == V1 else cost.FILES_V2
    files = {f"{version}/a/{limit}": 4 * GB, f"{version}/a/{used}": 3 * GB}
    cgroup = "4:memory:/a" if version == V1 else "0::/a"
    assert cost.free_memory(system(tmp_path, cgroup, files)) == GB
    files[f"{version}/a/memory.stat"] = f"anon 1\n{name} {2 * GB}"
    assert cost.free_memory(system(tmp_path, cgroup, files)) == 3 * GB
    assert cost.free_memory(system(tmp_path, cgroup, files, available=2 * GB)) == 2 * GB


def test_this_process():
    memory, whose = cost.memory_limit()
    assert 0 < memory <= cost.physical_memory()
    assert re.fullmatch(r"this machine has|the limit of its cgroup \(/.*\) is", whose)
    assert 0 < cost.free_memory() <= memory


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
def test_freed_memory_is_returned():
    """Many small arrays of a thread, and a last one that keeps its arena from shrinking by itself."""
    process = psutil.Process()

    def fill():
        arrays = [np.ones(128) for _ in range(200_000)]
        return arrays[-1], process.memory_info().rss

    with ThreadPoolExecutor(1) as pool:
        last, full = pool.submit(fill).result()
        cost.return_freed_memory()
        assert process.memory_info().rss < full - 1e8
        assert last.sum() == 128.0
