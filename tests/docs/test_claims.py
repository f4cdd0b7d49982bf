"""What the pages say is supported or missing, compared with the code."""

from __future__ import annotations

import inspect
import re
import tomllib
from importlib import import_module

import numpy as np
import pytest
from sklearn.utils import get_tags

import suffice

from ..laws.registry import ESTIMATORS, public_names
from .test_pages import PAGES, ROOT

GUIDES = ROOT / "docs" / "guides"
BY_NAME = {cls.__name__: cls for cls in ESTIMATORS}
TAKE_NAN = {name for name, cls in BY_NAME.items() if get_tags(cls()).input_tags.allow_nan}
NAME = re.compile(r"`([A-Za-z]\w+)`")


def section(page: str, title: str) -> str:
    """The text of a section of a guide."""
    text = (GUIDES / page).read_text(encoding="utf-8")
    return re.split(r"^## ", text.split(f"\n## {title}\n")[1], flags=re.MULTILINE)[0]


def test_the_table_of_missing_values_is_that_of_the_tags():
    rows = [line for line in section("getting_started.md", "Missing values").splitlines() if line[:1] == "|"]
    assert set(NAME.findall("\n".join(rows))) == TAKE_NAN


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_classes_that_a_table_recommends_for_missing_values_take_them(page):
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = line.split("|")
        if line[:1] != "|" or not re.search(r"missing values|\bNaN\b", cells[1]):
            continue
        for name in re.findall(r"\{class\}`~suffice\.[\w.]*?(\w+)`", line):
            assert name not in BY_NAME or name in TAKE_NAN, (page.name, line)


def test_what_is_not_available_is_not_public():
    ours = {name.rpartition(".")[2] for name in public_names()}
    text = (GUIDES / "coming_from.md").read_text(encoding="utf-8")
    paragraphs = re.findall(r"^Not available: (.*?)\n\n", text, re.DOTALL | re.MULTILINE)
    assert len(paragraphs) == 3
    for paragraph in paragraphs:
        assert not ours & set(NAME.findall(paragraph)), paragraph
        for words in (
            "gradient boosting",
            "random forest",
            "nearest neighbo",
            "support vector",
            "decision tree",
        ):
            assert words not in paragraph.lower(), paragraph


def test_options_that_are_not_available_are_refused():
    text = (GUIDES / "coming_from.md").read_text(encoding="utf-8")
    claims = 0
    for line in text.splitlines():
        if "is not available" not in line or line[:1] != "|":
            continue
        for option, value in re.findall(r'`(\w+)="([\w-]+)"` is not available', line):
            for name in NAME.findall(line.split("|")[1]):
                cls = BY_NAME[name]
                if option not in inspect.signature(cls).parameters:
                    continue
                claims += 1
                with pytest.raises((ValueError, NotImplementedError)):
                    cls(**{option: value}).fit(np.eye(6)[:, :3], np.arange(6) % 3)
    assert claims


def test_the_table_of_shared_classes():
    rows = dict(
        re.findall(r"^\| `([\w.]+)` \| (`.*`) \|$", section("coming_from.md", "scikit-learn"), re.MULTILINE)
    )
    for module in (*suffice._MODULES, "feature_extraction.text"):
        try:
            theirs = import_module(f"sklearn.{module}")
        except ImportError:
            continue
        ours = import_module(f"suffice.{module}")
        shared = set()
        for name in ours.__all__:
            a, b = getattr(ours, name), getattr(theirs, name, None)
            if not (inspect.isclass(a) and inspect.isclass(b) and hasattr(a, "get_params")):
                continue
            if set(inspect.signature(b).parameters) <= set(inspect.signature(a).parameters):
                shared.add(name)
        assert set(NAME.findall(rows.get(module, ""))) == shared, module


def test_divergences_of_nmf():
    from suffice.decomposition.nmf import BETA

    table = [
        line for line in (GUIDES / "decomposition.md").read_text().splitlines() if line.startswith('| `"mu"`')
    ]
    assert set(re.findall(r'`"([\w-]+)"`', table[0].split("|")[2])) == set(BETA)


def test_extras_are_those_of_the_package():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    text = (GUIDES / "getting_started.md").read_text(encoding="utf-8")
    assert set(re.findall(r'^pip install "\.\[(\w+)\]"', text, re.MULTILINE)) == set(declared)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_groups_name_the_version_of_pip(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("--group ") == text.count("pip 25.1 or later"), page
