"""Decisions: what to do, given probabilities and what mistakes cost."""

from .bayes_decision import BayesDecision, conditional_risk, excess_risk_bound, expected_risk

__all__ = ["BayesDecision", "conditional_risk", "excess_risk_bound", "expected_risk"]
