"""
PageRank of Python's standard library
=====================================

The imports of the standard library are a graph, with a link from each module to the modules that it imports.
:class:`~suffice.ranking.PageRank` is the stationary distribution of a reader who follows imports from module
to module, and sometimes jumps to another module. With ``restart`` the jumps lead to one module, and the
scores measure the importance of the others for that module.
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
    """Modules of the standard library that a file imports."""
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
# PageRank, personalized PageRank for ``asyncio``, and hub scores: hubs import many important modules.

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
# The bound of the error of the scores decreases faster for a smaller damping factor.

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for damping in (0.5, 0.85, 0.95):
    fitted = PageRank(damping, tol=1e-10).fit((source, target))
    RankDisplay.from_estimator(fitted, ax=ax, name=f"damping {damping}")
ax.set_title("error of all scores")
plt.show()
