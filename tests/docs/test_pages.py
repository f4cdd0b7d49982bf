"""Every line of Python in the pages and in README is run, and prints what the page says."""

from __future__ import annotations

import ast
import doctest
import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from suffice.core.values import Value
from suffice.estimator.storing import Storable

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    if not {"_build", "gallery", "generated"} & set(page.relative_to(ROOT).parts)
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(.*)$")
WIDTH = 82  # characters that fit between the sidebars of the site


def blocks(text: str) -> list[tuple[str, int, str]]:
    """The fenced blocks of a page: language, number of the first line, content."""
    found, inside, start, language = [], [], 0, None
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence and language is None:
            language, start, inside = fence[1].strip(), number, []
        elif fence:
            found.append((language, start, "\n".join(inside) + "\n"))
            language = None
        elif language is not None:
            inside.append(line)
    assert language is None, f"the block of line {start} is not closed"
    return found


def run(page: Path, text: str, names: dict) -> None:
    """Run the Python of a page from top to bottom, in one namespace: sessions (>>>) and scripts."""
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    printed = ""  # by the last script, which the next block of text shows
    for language, line, code in blocks(text):
        if language == "text" and printed:
            assert printed == code, (page, line)
        printed = ""
        if language != "python":
            continue
        if not code.startswith(">>> "):
            with redirect_stdout(io.StringIO()) as out:
                exec(compile("\n" * line + code, str(page), "exec", dont_inherit=True), names)
            printed = out.getvalue()
            continue
        session = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
        session.globs = names  # not a copy: what a block defines, functions of earlier blocks must see
        report: list[str] = []
        runner.run(session, out=report.append, clear_globs=False)
        assert not report, "".join(report)


def on_ray(page: Path) -> bool:
    return re.search(r"^(>>> )?import ray", page.read_text(encoding="utf-8"), re.MULTILINE) is not None


@pytest.fixture
def forgotten():
    """Classes that a page defines are not found by other tests."""
    yield
    for known in (Value.known, Storable.known):
        for name in [name for name in known if name.startswith("page.")]:
            del known[name]


def test_a_method_is_written_with_three_packages():
    """The walk-through of CONTRIBUTING imports from `suffice` what its author is told of, and no more."""
    code = "".join(
        code for language, _, code in blocks((ROOT / "CONTRIBUTING.md").read_text()) if language == "python"
    )
    used = {node.module for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)}
    ours = {".".join(name.split(".")[:2]) for name in used if name.startswith("suffice")}
    assert ours == {"suffice.core", "suffice.estimator", "suffice.fitting"}


@pytest.mark.usefixtures("forgotten")
@pytest.mark.timeout(300, method="thread")  # what a signal raises is lost inside ray.get
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ray", "ignore::UserWarning:ray", "ignore::FutureWarning:ray"
)
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.cluster] if on_ray(page) else []) for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_page(page, request, tmp_path, monkeypatch):
    text = page.read_text(encoding="utf-8")
    if on_ray(page):
        request.getfixturevalue("ray_here")
    monkeypatch.chdir(tmp_path)
    for _ in range(2 if page.name == "README.md" else 1):  # a reader runs its scripts more than once
        run(page, text, {"__name__": "page"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_code_escapes(page):
    """What is Python is called so, or it would not be run."""
    for language, line, code in blocks(page.read_text(encoding="utf-8")):
        assert language in ("python", "bash", "text") or language.startswith("{"), (page, line, language)
        assert language == "python" or ">>> " not in code, (page, line)


def test_the_flow_chart_leads_to_guides():
    """Sphinx does not look at the links of a picture."""
    links = re.findall(
        r'href="(\w+)\.html"', (ROOT / "docs/_static/choosing.svg").read_text(encoding="utf-8")
    )
    assert links
    assert not [name for name in links if not (ROOT / "docs" / "guides" / f"{name}.md").exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_of_code_are_not_cut_off(page):
    if "docs" not in page.relative_to(ROOT).parts:
        return  # not written for the site alone
    for language, line, code in blocks(page.read_text(encoding="utf-8")):
        if not language.startswith("{"):
            assert not [part for part in code.splitlines() if len(part) > WIDTH], (page, line)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_lines_of_examples_are_not_cut_off(example):
    text = example.read_text(encoding="utf-8")
    header = ast.parse(text).body[0].end_lineno
    lines = [line for line in text.splitlines()[header:] if not line.startswith("# ")]  # comments are prose
    assert not [line for line in lines if len(line) > WIDTH]
