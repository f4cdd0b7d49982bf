"""Conditional random fields: the worked examples of Li ch. 11, and of Gong and Xu ch. 8."""

from itertools import product

import numpy as np

from suffice.core.blocks import Sequences
from suffice.fitting import quasi_newton, scaling_step
from suffice.sequence import Chains, LinearChain

from ._canon import example

STATES = 2
OF_SYMBOLS = "symbols; the numbers of the same paths are compared"


class Features:
    """Features of moves and of states at given positions, each with one weight, on a chain of positions.

    A position is a column that is one there, and may weigh moves: the weights of the chain are a linear
    function of those of the features.
    """

    def __init__(self, given):
        self.n = given["n"]
        self.edge = np.arange(1, self.n)
        features = [*given["transition_features"], *given["state_features"]]
        self.weight = np.array([f["weight"] for f in features], dtype=float)
        self.columns = np.array([self._column(f) for f in features]).T  # (P, 9)

    def _column(self, feature):
        theta = np.zeros(self.n * STATES + self.n * STATES * STATES)
        nodes, moves = theta[: self.n * STATES].reshape(-1, STATES), theta[self.n * STATES :]
        moves = moves.reshape(-1, STATES, STATES)
        for position in feature["positions"]:
            if "prev" in feature:
                moves[position - 1, feature["prev"] - 1, feature["cur"] - 1] = 1.0
            else:
                nodes[position - 1, feature["cur"] - 1] = 1.0
        return theta

    def model(self, w):
        return LinearChain(self.columns @ w, np.array([1, 2]), np.ones(STATES), self.edge)

    def block(self, paths, weight=None):
        """Sequences with these labels, all with the same input."""
        S = len(paths)
        return Sequences(np.tile(np.eye(self.n), (S, 1)), self.n * np.arange(S + 1), np.ravel(paths), weight)

    @property
    def paths(self):
        return np.array(list(product([1, 2], repeat=self.n)))

    def scores(self, w, paths):
        """The log score of each labeling, and the log of their sum."""
        chains = self.model(w).chains(self.block(paths))
        return chains.score(np.ravel(paths) - 1), chains.log_sum[0]

    def probabilities(self, w):
        scores, total = self.scores(w, self.paths)
        return np.exp(scores - total)

    def named(self, values):
        return {",".join(map(str, path)): v for path, v in zip(self.paths.tolist(), values, strict=True)}

    def chain(self):
        return self.model(self.weight).chains(self.block(self.paths[:1]))


def matrices(M, start=0):
    """The chain of matrices M_1 ... M_n: all scores are those of moves."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.array(M, dtype=float))
    n = len(logs)
    return Chains(np.zeros((n, STATES)), logs[0, start], logs, np.array([0, n]))


def prefix(chain, n):
    return Chains(chain.state[:n], chain.start, chain.move[:n], np.array([0, n]))


def suffix(chain, n, state):
    """What follows after step n in a state."""
    return Chains(chain.state[n:], chain.move[n, state], chain.move[n:], np.array([0, len(chain.state) - n]))


def ending_in(chain, state):
    states = chain.state.copy()
    states[-1, np.arange(STATES) != state] = -np.inf
    return chain.replace(state=states)


@example("li-supervised/li-11.1")
def _(given):
    f = Features(given)
    scores, total = f.scores(f.weight, f.paths)
    own = f.scores(f.weight, [given["y"]])[0][0]
    return {
        "log_score": own,
        "score": np.exp(own),
        "all_log_scores": f.named(scores),
        "Z": np.exp(total),
        "P": f.named(np.exp(scores - total)),
    }


@example("li-supervised/li-11.2", path_products=OF_SYMBOLS)
def _(given):
    chain = matrices([given["numeric_instance"][m] for m in ("M1", "M2", "M3")])
    Z = np.exp(chain.log_sum[0])
    products = sum(np.exp(chain.score(np.array(path))[0]) for path in product(range(2), repeat=3))
    return {"Z": bool(np.isclose(Z, products, rtol=1e-12)), "numeric_Z": Z}


@example("li-supervised/li-11-marginals")
def _(given):
    f = Features(given)
    chain, model, n = f.chain(), f.model(f.weight), f.n
    Z = np.exp(chain.log_sum[0])
    states, moves = chain.smoothed()
    alpha = {
        i: prefix(chain, i).filtered()[-1] * np.exp(prefix(chain, i).log_sum[0]) for i in range(1, n + 1)
    }
    beta = {i: [np.exp(suffix(chain, i, k).log_sum[0]) for k in range(2)] for i in range(1, n)}
    counts = f.scores(np.ones(len(f.weight)), f.paths)[0]
    return {
        "alpha": {0: [1.0, 0.0], **alpha, n + 1: [alpha[n].sum(), 0.0]},
        "beta": {0: [np.exp(chain.log_sum_backward()[0]), 0.0], **beta, n: [1.0, 1.0], n + 1: [1.0, 0.0]},
        "Z": Z,
        "alpha_n_dot_1": alpha[n].sum(),
        "beta_0_start": np.exp(chain.log_sum_backward()[0]),
        "ones_dot_beta_1": sum(beta[1]),
        "P_Y": {i + 1: states[i] for i in range(n)},
        "P_pair": {i + 1: moves[i] for i in range(1, n)},
        "E_features": f.columns.T @ model.expected(f.block(f.paths[:1])),
        "total_count_T": f.named(counts),
        "T_max": counts.max(),
    }


@example("li-supervised/li-11.3")
def _(given):
    f = Features(given)
    chain = f.chain()
    best = [[ending_in(prefix(chain, n), k).best() for k in range(2)] for n in range(1, f.n + 1)]
    path, score = chain.best()
    return {
        "delta": [[s[0] for _, s in ends] for ends in best],
        "psi_2": [p[-2] + 1 for p, _ in best[1]],
        "psi_3": [p[-2] + 1 for p, _ in best[2]],
        "score": score[0],
        "path": path + 1,
    }


@example("li-supervised/li-ex-11.4")
def _(given):
    chain = matrices([given[m] for m in ("M1", "M2", "M3")], given["start"] - 1)
    paths = list(product(range(2), repeat=3))
    best, score = chain.best()
    states = chain.smoothed()[0]
    return {
        "path_probabilities": {
            ",".join(str(k + 1) for k in path): np.exp(chain.score(np.array(path))[0]) for path in paths
        },
        "Z": np.exp(chain.log_sum[0]),
        "best": best + 1,
        "best_probability": np.exp(score[0]),
        "P_Y": {i + 1: states[i] for i in range(3)},
        "ones_dot_beta_1": np.exp(chain.replace(start=np.zeros(2)).log_sum[0]),
    }


@example("li-supervised/li-11-iis-step")
def _(given):
    f = Features(given)
    true, zero, S = f.weight, np.zeros(len(f.weight)), float(given["S"])
    P = f.probabilities(true)
    data = f.block(f.paths, P)

    def expected(w):
        return f.columns.T @ f.model(w).expected(data)

    def log_likelihood(w):
        return -f.model(w).summarize(data).loss

    def gradient(w):
        return -f.columns.T @ f.model(w).summarize(data).gradient

    observed = f.columns.T @ f.model(zero).observed(data)
    totals = f.scores(np.ones(len(true)), f.paths)[0]
    each = np.array([f.columns.T @ f.model(zero).observed(f.block([path])) for path in f.paths])
    by_total = np.array([f.probabilities(zero)[totals == t] @ each[totals == t] for t in (4, 5)])
    by_S = scaling_step(observed, expected(zero)[None], np.array([S]), zero)
    by_T = scaling_step(observed, expected(zero)[None], np.array([totals.max()]), zero)
    return {
        "E_empirical": observed,
        "E_model_at_0": expected(zero),
        "gradient_of_log_likelihood_at_0": gradient(zero),
        "delta_S": by_S,
        "delta_T": bool(np.allclose(by_S, by_T, rtol=1e-12)),
        "delta_plain": scaling_step(observed, by_total, np.array([4.0, 5.0]), zero),
        "gradient_at_true_weights": gradient(true),
        "log_likelihood_at_0": log_likelihood(zero),
        "log_likelihood_max": log_likelihood(true),
    }


@example("gong-xu/gx-8.crf")
def _(given):
    # Columns: the input and a constant. Weights: x of label 0 and 1, equal neighbours, ones.
    columns = np.zeros((8, 4))
    columns[0, 0] = columns[1, 1] = columns[3, 3] = 1.0
    columns[[4, 7], 2] = 1.0

    def block(sequences):
        x = np.concatenate([s["x"] for s in sequences])
        offset = np.concatenate([[0], np.cumsum([len(s["x"]) for s in sequences])])
        y = np.concatenate([s["y"] for s in sequences])
        return Sequences(np.stack([x, np.ones(len(x))], axis=1), offset, y)

    def model(w):
        return LinearChain(columns @ w, np.array([0, 1]), np.ones(2), np.array([], dtype=int))

    data = block(given["sequences"])

    def ridge(w):
        s = model(w).summarize(data)
        return s.loss + 0.25 * w @ w, columns.T @ s.gradient + 0.5 * w

    at_zero = model(np.zeros(4)).summarize(data)
    w = quasi_newton(ridge, np.zeros(4), tol=1e-9).model
    test = model(w).chains(block([{"x": given["test_x"], "y": [0] * len(given["test_x"])}]))
    return {
        "nll_at_zero": at_zero.loss,
        "gradient_at_zero": columns.T @ at_zero.gradient,
        "ridge_0.5": {
            "w": w,
            "objective": ridge(w)[0],
            "nll": model(w).summarize(data).loss,
            "test_logZ": test.log_sum[0],
            "test_node_marginals_y1": test.smoothed()[0][:, 1],
            "test_decode": test.best()[0],
        },
    }
