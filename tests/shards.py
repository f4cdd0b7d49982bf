"""Divide the test files into n shards that take about the same time, for `.ci/slow`.

    python -m tests.shards 2/4                  # the files of the second of four shards
    python -m tests.shards --record *.xml       # write durations.txt from the reports of all shards

`durations.txt` has the seconds that the slow tests of a file take. The longest file goes first, each to the
shard that has the least. The same files and durations always give the same shards. A file that was not
recorded counts little.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

TESTS = Path(__file__).parent
DURATIONS = TESTS / "durations.txt"
UNKNOWN = 2.0  # seconds of a file that was not recorded
PROCESSES = 2  # of the tests that need no cluster: a second of theirs is half a second of the shard


def test_files() -> list[str]:
    """All test files, as paths below the folder of tests."""
    return sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py"))


def recorded(path: Path = DURATIONS) -> dict[str, float]:
    """Seconds by file."""
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = (line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    return {file: float(seconds) for seconds, file in pairs}


def divided(files: Iterable[str], seconds: dict[str, float], n: int) -> list[list[str]]:
    """The files in n shards: the longest first, each to the shard with the least so far."""
    shards: list[list[str]] = [[] for _ in range(n)]
    total = [0.0] * n
    for file in sorted(files, key=lambda name: (-seconds.get(name, UNKNOWN), name)):
        least = total.index(min(total))
        shards[least].append(file)
        total[least] += seconds.get(file, UNKNOWN)
    return shards


def measured(reports: Iterable[Path]) -> dict[str, float]:
    """Seconds by file in reports of pytest (`--junitxml`); `alone` in the name of a report: one process."""
    found: dict[str, float] = defaultdict(float)
    for report in reports:
        share = 1.0 if "alone" in report.name else 1.0 / PROCESSES
        for case in ElementTree.parse(report).iter("testcase"):
            module = re.match(r"tests\.(.*?test_\w+)", case.get("classname", ""))
            if module:
                found[f"{module[1].replace('.', '/')}.py"] += share * float(case.get("time", 0.0))
    return dict(found)


def parse(text: str) -> tuple[int, int]:
    """i and n of i/n, where i counts from one."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise SystemExit(f"A shard is i/n with 1 <= i <= n, such as 2/4. Got {text!r}.")
    return int(match[1]), int(match[2])


def main(arguments: list[str]) -> None:
    if arguments and arguments[0] == "--record":
        seconds = recorded() | measured(map(Path, arguments[1:]))
        kept = sorted((file, s) for file, s in seconds.items() if (TESTS / file).exists() and s >= 1.0)
        head = "# Seconds of the slow tests of each file, on two cores: python -m tests.shards --record\n"
        DURATIONS.write_text(head + "".join(f"{s:.0f} {file}\n" for file, s in kept))
    elif len(arguments) == 1:
        i, n = parse(arguments[0])
        print("\n".join(f"tests/{file}" for file in divided(test_files(), recorded(), n)[i - 1]))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
