"""Displays of fitted estimators, as in scikit-learn: `from_estimator`, `plot`. They need matplotlib."""

from .coefficients import CoefficientPathDisplay
from .convergence import ConvergenceDisplay
from .decision_regions import DecisionRegionsDisplay
from .partial_effects import PartialEffectsDisplay
from .ranking import RankDisplay
from .segments import SegmentsDisplay
from .topics import TopicMapDisplay, TopicsDisplay
from .transition import TransitionDisplay
from .trellis import TrellisDisplay

__all__ = [
    "CoefficientPathDisplay",
    "ConvergenceDisplay",
    "DecisionRegionsDisplay",
    "PartialEffectsDisplay",
    "RankDisplay",
    "SegmentsDisplay",
    "TopicMapDisplay",
    "TopicsDisplay",
    "TransitionDisplay",
    "TrellisDisplay",
]
