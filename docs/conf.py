"""The documentation: python -m sphinx -W --keep-going -b html docs docs/_build/html"""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("MPLBACKEND", "Agg")

import reference_pages  # noqa: E402

import suffice  # noqa: E402

reference_pages.write(HERE / "reference" / "generated")
(HERE / "concepts" / "guarantees_table.md").write_text(reference_pages.guarantees(), encoding="utf-8")


def speed_table() -> str:
    """The rows of the benchmarks beside scikit-learn, with the columns that fit on the first page."""
    text = (HERE / "guides" / "benchmarks_table.md").read_text(encoding="utf-8")
    size, *rows = re.findall(r".+", text.partition("## Beside scikit-learn")[2].partition("\n## ")[0])
    table = ["|".join(row.split("|")[:5]) + "|" for row in rows]
    return "\n".join([f"{size} {text.splitlines()[0]}", "", *table, ""])


(HERE / "generated").mkdir(exist_ok=True)
(HERE / "generated" / "speed.md").write_text(speed_table(), encoding="utf-8")

project = "suffice"
author = "The suffice developers"
copyright = f"{author}, BSD-3-Clause"
version = release = suffice.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # MathJax from the site itself: pages show formulas without the internet
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
# Links into other projects need their inventories from the internet; builds without it stay possible.
if "READTHEDOCS" in os.environ or "SUFFICE_INTERSPHINX" in os.environ:
    extensions.append("sphinx.ext.intersphinx")
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
    "pandas": ("https://pandas.pydata.org/docs", None),
    "pyarrow": ("https://arrow.apache.org/docs", None),
}
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "_build",
    "generated",  # included in index.md
    "guides/benchmarks_table.md",
    "guides/everyday_table.md",
    "guides/document_clustering_table.md",
    "concepts/scale_*.md",  # included in scale.md
    "concepts/guarantees_cpus.md",  # tests/laws/other_cpus.py writes it
    "concepts/guarantees_table.md",  # generated, and included in guarantees.md
    "gallery/*.py.md5",
    "sg_execution_times.rst",
]
templates_path = ["_templates"]
default_role = "py:obj"
add_module_names = False
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "suffice"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
# Pages of the first level without pages below have nothing to list at the side.
html_sidebars = {
    page: [] for page in ("guides/getting_started", "guides/benchmarks", "contributing", "changelog")
}
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "suffice"},
    "header_links_before_dropdown": 5,  # the others are "More"
    "navbar_end": ["version-switcher", "theme-switcher"],
    # Relative to the root of the site, which redirects to a version.
    "switcher": {
        "json_url": "_static/switcher.json",
        "version_match": os.environ.get("READTHEDOCS_VERSION", "latest"),
    },
    "check_switcher": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}

copybutton_prompt_text = r">>> |\.\.\. "  # copied without them
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "doc_module": ("suffice",),
    "backreferences_dir": "gallery/backreferences",  # "Examples using" on the pages of classes
    "reference_url": {"suffice": None},
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
}


def ours_only(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Members that scikit-learn defines are in scikit-learn's reference."""
    function = (
        getattr(thing, "fget", None) or getattr(thing, "func", None) or getattr(thing, "__func__", thing)
    )
    home = getattr(function, "__module__", None) or ""
    return None if home.startswith("suffice") else True


FIELD = re.compile(r"^    (\w+): ([^=#]+?)(?: = [^#]+?)?(?:  # *(.+))?$")


def shapes(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """In "trace_ : ndarray of shape (n_iter_,)" the last name is no link."""
    for n, line in enumerate(lines):
        if re.match(r"\w+ : [^`]*$", line):
            first, colon, kind = line.partition(" : ")
            lines[n] = first + colon + re.sub(r"_\b", r"\\_", kind)


def operators(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """In formulas, sums and products have their limits below and above; docstrings have the plain signs."""
    inside = False
    for n, line in enumerate(lines):
        inside = line.startswith(".. math::") or (inside and (not line or line.startswith(" ")))
        if inside:
            lines[n] = line.replace("∑", r"\sum").replace("∏", r"\prod").replace("∫", r"\int ")


def fields(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """The fields of values are documented by the comments beside them; put them where readers look."""
    if what != "class" or not dataclasses.is_dataclass(thing) or "Attributes" in lines:
        return
    found: dict[str, tuple[str, str]] = {}
    for cls in reversed(thing.__mro__):
        if cls.__module__.startswith("suffice"):
            matches = map(FIELD.match, inspect.getsource(cls).splitlines())
            found |= {m[1]: (m[2], " ".join((m[3] or "").split())) for m in matches if m}
    lines += ["", "Attributes", "----------"]
    for field in dataclasses.fields(thing):
        kind, comment = found.get(field.name, ("", ""))
        lines += [f"{field.name} : {kind}", *([f"    {comment}"] if comment else [])]


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", ours_only)
    for change in (fields, shapes, operators):
        app.connect("autodoc-process-docstring", change, priority=100)  # before numpydoc reads them
