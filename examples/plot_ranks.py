"""
What Python's library rests on
==============================

Modules of the standard library import each other, and that is a graph: a link from each module to those that
it imports. :class:`~suffice.ranking.PageRank` asks where a reader ends up who follows imports from module to
module, and now and then opens another one. With ``restart`` he always goes back to one module, and the scores
tell what *that* module rests on.
"""

import ast
import sysconfig
from pathlib import Path

import matplotlib.pyplot as plt

from suffice.plot import RankDisplay
from suffice.ranking import HITS, PageRank

library = Path(sysconfig.get_path("stdlib"))
files = {path.stem: [path] for path in library.glob("*.py")}
files |= {
    path.parent.name: sorted(path.parent.rglob("*.py"))
    for path in library.glob("*/__init__.py")
}
files = {
    name: paths
    for name, paths in files.items()
    if name not in ("test", "idlelib", "lib2to3", "__future__")
}


def imports(path):
    """The modules of the library that a file imports."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


source, target = [], []
for name, paths in files.items():
    for other in sorted(
        {found for path in paths for found in imports(path)}
        & files.keys() - {name}
    ):
        source.append(name)
        target.append(other)

# %%
# Scores of all, scores seen from ``asyncio``, and hubs: modules that import much of what matters.

rank = PageRank().fit((source, target))
seen = PageRank(restart={"asyncio": 1.0}).fit((source, target))
hits = HITS().fit((source, target))

found = {
    "PageRank": rank.scores_,
    "seen from asyncio": seen.scores_,
    "hubs": hits.hubs_,
}
figure, axes = plt.subplots(1, 3, figsize=(10, 4.6), layout="constrained")
for ax, (title, scores) in zip(axes, found.items(), strict=True):
    order = scores.argsort()[-14:]
    ax.barh(range(14), scores[order], color="#0072b2")
    ax.set_yticks(range(14), rank.nodes_[order], fontsize=9)
    ax.set_title(title)
    ax.spines[["top", "right"]].set_visible(False)

# %%
# The error of the scores has a known bound, which falls the faster the less damping there is.

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for damping in (0.5, 0.85, 0.95):
    fitted = PageRank(damping, tol=1e-10).fit((source, target))
    RankDisplay.from_estimator(fitted, ax=ax, name=f"damping {damping}")
ax.set_title("error of all scores")
plt.show()
