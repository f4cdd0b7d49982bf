"""Link analysis: ranking the nodes of a graph."""

from .browse_rank import BrowseRank
from .hits import HITS
from .page_rank import PageRank
from .transition import transition_matrix
from .trust_rank import TrustRank

__all__ = [
    "HITS",
    "BrowseRank",
    "PageRank",
    "TrustRank",
    "transition_matrix",
]
