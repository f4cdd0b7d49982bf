"""Versions of Python, suffice and its dependencies, for reports of problems."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version

from threadpoolctl import threadpool_info

from .storage import this_version


def show_versions() -> None:
    """Print the versions of Python, suffice and its dependencies. Paste the output into bug reports.

    Examples
    --------
    >>> import suffice
    >>> suffice.show_versions()
    suffice: 0...
    python: 3...
    """
    packages = [match[0] for text in requires("suffice") or () if (match := re.match(r"[\w.-]+", text))]
    lines = {
        "suffice": this_version(),
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "machine": f"{platform.platform()}, {os.cpu_count()} CPUs",
        **{name: _version(name) for name in packages},
    }
    for pool in threadpool_info():
        name = f"{pool['internal_api']} {pool.get('version') or ''}".strip()
        lines[name] = f"{pool['num_threads']} threads, {pool['filepath']}"
    for name, value in lines.items():
        print(f"{name}: {value}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
