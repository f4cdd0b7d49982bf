"""Topic models: term weighting, models, evaluation, retrieval."""

from ..decomposition.latent_dirichlet_allocation import LatentDirichletAllocation
from .evaluation import coherence, top_words, topic_diversity
from .held_out import document_completion, left_to_right
from .latent_semantic_analysis import LatentSemanticAnalysis
from .probabilistic_latent_semantic_analysis import ProbabilisticLatentSemanticAnalysis
from .regularized_lsi import RegularizedLSI
from .retrieval import rank_documents
from .term_weighting import TermWeighting

__all__ = [
    "LatentDirichletAllocation",
    "LatentSemanticAnalysis",
    "ProbabilisticLatentSemanticAnalysis",
    "RegularizedLSI",
    "TermWeighting",
    "coherence",
    "document_completion",
    "left_to_right",
    "rank_documents",
    "top_words",
    "topic_diversity",
]
