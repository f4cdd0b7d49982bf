"""Bayes decision theory: decisions from probabilities and losses."""

from .bayes_decision import BayesDecision, conditional_risk, excess_risk_bound, expected_risk

__all__ = ["BayesDecision", "conditional_risk", "excess_risk_bound", "expected_risk"]
