"""Displays of fitted estimators, as in scikit-learn: `from_estimator`, `plot`. They need matplotlib."""

from .clusters import ClusterProfilesDisplay, SilhouetteDisplay
from .coefficients import CoefficientPathDisplay
from .convergence import ConvergenceDisplay
from .decision_regions import DecisionRegionsDisplay
from .dendrogram import DendrogramDisplay
from .embedding import EmbeddingDisplay
from .ensemble import ImportancesDisplay, StagedLossDisplay
from .kernels import KernelMatrixDisplay, MarginDisplay
from .mixture import MixtureDisplay
from .model_selection import ModelSelectionDisplay
from .partial_effects import PartialEffectsDisplay
from .ranking import RankDisplay
from .scree import ScreeDisplay
from .segments import SegmentsDisplay
from .topics import TopicMapDisplay, TopicsDisplay
from .transition import StateDiagramDisplay, TransitionDisplay
from .tree import PruningDisplay, TreeDisplay
from .trellis import TrellisDisplay
from .weights import TopWeightsDisplay

__all__ = [
    "ClusterProfilesDisplay",
    "CoefficientPathDisplay",
    "ConvergenceDisplay",
    "DecisionRegionsDisplay",
    "DendrogramDisplay",
    "EmbeddingDisplay",
    "ImportancesDisplay",
    "KernelMatrixDisplay",
    "MarginDisplay",
    "MixtureDisplay",
    "ModelSelectionDisplay",
    "PartialEffectsDisplay",
    "PruningDisplay",
    "RankDisplay",
    "ScreeDisplay",
    "SegmentsDisplay",
    "SilhouetteDisplay",
    "StagedLossDisplay",
    "StateDiagramDisplay",
    "TopWeightsDisplay",
    "TopicMapDisplay",
    "TopicsDisplay",
    "TransitionDisplay",
    "TreeDisplay",
    "TrellisDisplay",
]
