"""Link analysis: ranking the nodes of a graph."""

from .browse_rank import BrowseRank
from .hits import HITS, Hubs
from .links import Links
from .page_rank import LinkMass, PageRank, Surfer
from .transition import transition_matrix
from .trust_rank import TrustRank

__all__ = [
    "HITS",
    "BrowseRank",
    "Hubs",
    "LinkMass",
    "Links",
    "PageRank",
    "Surfer",
    "TrustRank",
    "transition_matrix",
]
