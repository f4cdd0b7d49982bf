"""Markov chains: distributions, classes, periods, reversibility, absorption."""

from fractions import Fraction

import numpy as np
import pytest

from suffice.sampling import MarkovChain

from ._canon import AnyOrder, example, given


def of_columns(P):
    """The chain of a matrix whose columns sum to one."""
    return MarkovChain.from_transition(np.array(P, float).T)


def has_one(chain):
    return len(chain.stationary_distributions()) == 1


# Li, ch. 19 --------------------------------------------------------------------------------------


@example("li-unsupervised/li-19.weather")
def _(given):
    P = np.array(given["P"], float).T
    chain = MarkovChain.from_transition(P, start=given["pi0"], states=given["states"])
    return {
        "pi1": chain.distribution(1),
        "pi2": chain.distribution(2),
        "pi3": chain.distribution(3),
        "stationary": chain.stationary_distribution(),
    }


@example("li-unsupervised/li-19.3")
def _(given):
    chain = of_columns(given["P"])
    return {
        "stationary": chain.stationary_distribution(),
        "unique": has_one(chain),
        "irreducible": chain.is_irreducible(),
        "period": chain.period()[0],
        "reversible": chain.is_reversible(),
    }


@example("li-unsupervised/li-19.4")
def _(given):
    chain = of_columns(given["P"])
    ends = chain.stationary_distributions()
    with pytest.raises(ValueError, match="2 closed classes"):
        chain.stationary_distribution()
    return {
        "unique": has_one(chain),
        "family": bool((ends == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).all()),
        "members": [(1 - c) * ends[0] + c * ends[1] for c in (1 / 4, 1 / 3)],
        "irreducible": chain.is_irreducible(),
    }


@example("li-unsupervised/li-19.5")
def _(given):
    chain = of_columns(given["P"])
    return {
        "irreducible": chain.is_irreducible(),
        "stationary": chain.stationary_distribution(),
        "unique": has_one(chain),
        "periods": chain.period(),
        "detailed_balance_with_stationary": chain.is_reversible(),
    }


@example("li-unsupervised/li-19.6")
def _(given):
    chain = of_columns(given["P"])
    assert chain.distance_to_stationary(99, [1, 0, 0]).min() > 1.0
    return {
        "irreducible": chain.is_irreducible(),
        "period": chain.period()[0],
        "stationary": chain.stationary_distribution(),
        "reversible": chain.is_reversible(),
    }


def walk_on_numbers(p, most):
    """From each number down with p and up with 1 - p; at the ends it stays instead."""
    P = np.diag(np.full(most, 1 - p), 1) + np.diag(np.full(most, p), -1)
    P[0, 0], P[-1, -1] = p, 1 - p
    return P


@example("li-unsupervised/li-19.7")
def _(given):
    """On so many states that what is cut off does not matter, since p > q; not so if p < q."""
    p, q = given["p"], given["q"]
    chain = MarkovChain.from_transition(walk_on_numbers(p, 200))
    pi = chain.stationary_distribution()
    formula = (q / p) ** np.arange(201) * (p - q) / p
    away = MarkovChain.from_transition(walk_on_numbers(q, 200)).mean_return_times()
    return {
        "positive_recurrent_if": bool(
            (chain.recurrence() == "positive recurrent").all()
            and chain.mean_return_times()[0] < 1.001 * p / (p - q)
            and away[0] > 1e30  # and without end, if there are more states
        ),
        "stationary_formula": bool(np.allclose(pi, formula, rtol=1e-10, atol=1e-15)),
        "first_four": pi[:4],
    }


@example("li-unsupervised/li-19.8")
def _(given):
    chain = of_columns(given["P"])
    flow = chain.flow()
    return {
        "stationary": chain.stationary_distribution(),
        "reversible": chain.is_reversible(),
        "flow_1_to_2": flow[0, 1],
        "flow_2_to_1": flow[1, 0],
        "irreducible": chain.is_irreducible(),
        "period": chain.period()[0],
    }


@example("li-unsupervised/li-19.ex3")
def _(given):
    chain = of_columns(given["P"])
    return {
        "irreducible": chain.is_irreducible(),
        "aperiodic": bool((chain.period() == 1).all()),
        "stationary": chain.stationary_distribution(),
    }


@example("li-unsupervised/li-19.ex4")
def _(given):
    chain = of_columns(given["P"])
    return {
        "irreducible": chain.is_irreducible(),
        "period": chain.period()[0],
        "stationary": chain.stationary_distribution(),
        "reversible": chain.is_reversible(),
    }


@example("li-unsupervised/li-19.ex5")
def _(given):
    chain = of_columns(given["P"])
    return {"detailed_balance": chain.is_reversible(given["pi"]), "irreducible": chain.is_irreducible()}


@example("li-unsupervised/li-21.ex1")
def _(given):
    powers = [of_columns(given["M"]).n_step(k) for k in given["k"]]
    sums = np.array([P.sum(axis=1) for P in powers])
    assert np.ptp(sums, axis=0).max() < 1e-14
    return {"column_sums_of_power": sums[-1], "non_negative": all((P >= 0).all() for P in powers)}


# Gong and Xu, ch. 5 and 7 ------------------------------------------------------------------------


def gambler(p, most):
    """Wins one with p, else loses one, until he has `most` or nothing."""
    P = np.diag(np.full(most, p), 1) + np.diag(np.full(most, 1 - p), -1)
    P[[0, -1]] = 0.0
    P[0, 0] = P[-1, -1] = 1.0
    return MarkovChain.from_transition(P).absorption()


@example("gong-xu/gx-5.2")
def _(given):
    a, total = given["a"], given["a"] + given["b"]
    ends = [gambler(p, total) for p in given["p"]]
    fair = np.arange(1, total)
    holds = np.allclose(ends[0].probability[:, 1], fair / total) and np.allclose(
        ends[0].steps, fair * (total - fair)
    )
    return {
        "u": [end.probability[a - 1, 1] for end in ends],
        "m": [end.steps[a - 1] for end in ends],
        "formula_fair": bool(holds),
    }


@example("gong-xu/gx-p5.3")
def _(given):
    win, loss = given["win_target"], given["loss_limit"]
    end = gambler(float(Fraction(given["p"])), win + loss)
    wins = end.probability[loss - 1, 1]
    return {
        "P_win": wins,
        "expected_profit": wins * win - (1 - wins) * loss,
        "expected_bets": end.steps[loss - 1],
    }


@example("gong-xu/gx-5.3")
def _(given):
    chain = MarkovChain.from_transition(given["P"])
    starts = {"mu1": [1, 0, 0, 0, 0], "mu2": [0.5, 0, 0.5, 0, 0], "mu3": [0.2] * 5}
    pi = chain.stationary_distribution()
    assert np.allclose(chain.invariant_measure(2).sum(), chain.mean_return_times()[2])
    return {
        "pi": pi,
        "pi_exact_over_16441": pi * 16441,
        "e1_step1": chain.distribution(1, starts["mu1"]),
        "e1_step2": chain.distribution(2, starts["mu1"]),
        "mu2_step1": chain.distribution(1, starts["mu2"]),
        "mu3_step1": chain.distribution(1, starts["mu3"]),
        "L1_gap_after_10_steps": {k: chain.distance_to_stationary(10, mu)[-1] for k, mu in starts.items()},
        "mean_return_times": chain.mean_return_times(),
    }


@example("gong-xu/gx-5.4")
def _(given):
    chain = MarkovChain.from_transition(given["P"])
    values = chain.eigenvalues()
    assert chain.mixing_rate() == abs(values[1])
    return {
        "eigenvalues_re_im": [[value.real, value.imag] for value in values],
        "moduli": np.abs(values),
        "smallest_positive_power": next(n for n in range(1, 30) if (chain.n_step(n) > 0).all()),
        "reversible": chain.is_reversible(),
    }


@example("gong-xu/gx-p5.1", pi_exact="the same numbers as pi, as fractions")
def _(given):
    chain = MarkovChain.from_transition(given["P"])
    pi, flow = chain.stationary_distribution(), chain.flow()
    assert np.allclose(pi, np.array([47, 41, 67]) / 155, rtol=0, atol=1e-15)
    return {"pi": pi, "reversible": chain.is_reversible(), "flow_12": flow[0, 1], "flow_21": flow[1, 0]}


@example("gong-xu/gx-p5.2")
def _(g):
    chain = MarkovChain.from_transition(given("gong-xu/gx-p5.1")["P"])
    time = chain.mean_return_times()[g["state"] - 1]
    return {"E1_T": time, "exact": time}


def toward_zero(p, most):
    """On whole numbers up to `most` on either side of 0: toward 0 with p; from 0 to either side."""
    n = 2 * most + 1
    P = np.zeros((n, n))
    for i in range(n):
        for j, share in ((i - 1, p if i > most else 1 - p), (i + 1, p if i < most else 1 - p)):
            if 0 <= j < n:
                P[i, j] = 0.5 if i == most else share
    P[0, 1] = P[-1, -2] = 1.0
    return MarkovChain.from_transition(P)


@example("gong-xu/gx-p5.4")
def _(given):
    chain = toward_zero(0.7, 30)
    return {"irreducible": chain.is_irreducible(), "period": chain.period()[0]}


@example("gong-xu/gx-p5.5")
def _(given):
    chains, middle = [toward_zero(p, 100) for p in given["p"]], 100
    start = np.eye(201)[middle]
    pi0 = [chain.stationary_distribution()[middle] for chain in chains]
    return {
        "pi0": pi0,
        "formula": bool(np.allclose(pi0, [(2 * p - 1) / (2 * p) for p in given["p"]])),
        "limit_even_times": [start @ chain.n_step(4000)[:, middle] for chain in chains],
        "limit_odd_times": [start @ chain.n_step(4001)[:, middle] for chain in chains],
    }


@example("gong-xu/gx-5.period")
def _(given):
    chain = MarkovChain.from_transition(given["P"])
    return {
        "period": chain.period()[0],
        "classes": AnyOrder(part.tolist() for part in chain.cyclic_classes()),
        "P2": chain.n_step(2),
        "eigenvalues": chain.eigenvalues()[[0, 1, 2, 3]].real,
    }


@example("gong-xu/gx-p7.1")
def _(given):
    chain = MarkovChain.from_transition(given["P"])
    pi = chain.stationary_distribution()
    seen = pi @ np.array(given["Q_states_by_outputs"])
    return {"pi": pi, "P_o1": seen[0], "P_o2": seen[1]}
