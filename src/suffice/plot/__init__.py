"""Pictures of what was fitted, as scikit-learn's displays: `from_estimator`, `plot`. They need matplotlib."""

from .convergence import ConvergenceDisplay
from .ranking import RankDisplay
from .segments import SegmentsDisplay
from .topics import TopicMapDisplay, TopicsDisplay
from .transition import TransitionDisplay
from .trellis import TrellisDisplay

__all__ = [
    "ConvergenceDisplay",
    "RankDisplay",
    "SegmentsDisplay",
    "TopicMapDisplay",
    "TopicsDisplay",
    "TransitionDisplay",
    "TrellisDisplay",
]
