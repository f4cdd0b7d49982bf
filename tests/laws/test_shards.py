"""The slow suite in shards: each test file in one of them, of about the same time."""

from __future__ import annotations

import pytest

from ..shards import TESTS, UNKNOWN, divided, measured, parse, recorded
from ..shards import test_files as files_of_tests


@pytest.mark.parametrize("n", [1, 3, 4, 7])
def test_each_file_is_in_one_shard(n):
    shards = divided(files_of_tests(), recorded(), n)
    assert len(shards) == n
    assert sorted(file for shard in shards for file in shard) == files_of_tests()
    assert shards == divided(reversed(files_of_tests()), recorded(), n)


def test_shards_take_about_the_same_time():
    seconds = {f"{s}.py": float(s) for s in range(1, 60)}
    total = [sum(seconds[file] for file in shard) for shard in divided(seconds, seconds, 4)]
    assert max(total) - min(total) <= 3.0
    more = divided([*seconds, "new.py"], seconds, 4)
    assert sum("new.py" in shard for shard in more) == 1 and UNKNOWN > 0.0


def test_the_longest_shard_of_two_is_not_much_longer_than_the_other():
    seconds = recorded()
    total = [sum(seconds.get(file, UNKNOWN) for file in shard) for shard in divided(seconds, seconds, 2)]
    assert max(total) <= 1.2 * sum(total) / 2, "divide the longest file"
    assert all((TESTS / file).exists() for file in seconds), "run tests.shards --record"


def test_seconds_are_read_from_reports(tmp_path):
    cases = (
        '<testcase classname="tests.laws.test_sums" name="test_a[x.y]" time="4.0"/>'
        '<testcase classname="tests.laws.test_sums.TestB" name="test_c" time="2.0"/>'
        '<testcase classname="src.suffice.core" name="doctest" time="9.0"/>'
    )
    for name in ("1-of-2-together.xml", "1-of-2-alone.xml"):
        (tmp_path / name).write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    found = measured(sorted(tmp_path.iterdir()))
    assert found == {"laws/test_sums.py": 6.0 + 6.0 / 2}


def test_a_shard_is_one_of_n():
    assert parse("2/4") == (2, 4)
    for text in ("0/4", "5/4", "2", "2/0", "-1/4"):
        with pytest.raises(SystemExit, match="i/n"):
            parse(text)
