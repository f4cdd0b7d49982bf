"""Max-margin Markov networks on chains."""

from itertools import product

import numpy as np
from scipy.optimize import minimize

from suffice.core import Sequences
from suffice.fitting import cutting_planes
from suffice.sequence import MarginChain

from ._canon import example

# The canon's features as weights of a chain: the row of a step is (x, 1), one weight is that of equal
# neighbours, and the number of ones is the weight of the second label for the second feature.
NODES = {(0, 0): 0, (1, 0): 1, (1, 1): 3}  # label, feature -> weight
TIES = np.zeros((8, 4))
for (label, feature), weight in NODES.items():
    TIES[2 * label + feature, weight] = 1.0
TIES[[4, 7], 2] = 1.0


def block_of(sequences):
    x = [np.array(s["x"], float) for s in sequences]
    X = np.column_stack([np.concatenate(x), np.ones(sum(map(len, x)))])
    offset = np.cumsum([0, *map(len, x)])
    return Sequences(X, offset, np.concatenate([s["y"] for s in sequences]))


def at(w):
    start = MarginChain(np.zeros((2, 2)), np.zeros((2, 2)), np.arange(2), 1.0 - np.eye(2))
    return start.at(TIES @ w)


def fit(block, C):
    """The network with the canon's features: the risk is that of the chain, at weights that are tied."""

    def plane(w):
        s = at(w).summarize(block)
        return C / s.weight * s.cost, C / s.weight * TIES.T @ s.gradient

    found = cutting_planes(plane, np.zeros(4), tol=1e-13)
    assert found.converged
    return found


def factored_dual(block, C):
    """Its objective, by a solver that knows nothing of chains; and its number of variables."""
    S = len(block)
    moves = list(product(range(2), repeat=2))
    shares, rows, sums = [], [], []  # features and cost of each share; constraints
    true = np.zeros(4)
    for s in range(S):
        one = block[s : s + 1]
        X, y = one.X, one.y
        nodes, first = {}, len(shares)
        for n, k in product(range(len(X)), range(2)):
            nodes[n, k] = len(shares)
            z = np.zeros(8)
            z[2 * k : 2 * k + 2] = X[n]
            shares.append((TIES.T @ z, float(k != y[n])))
        edges = {}
        for n, (i, j) in product(range(1, len(X)), moves):
            edges[n, i, j] = len(shares)
            z = np.zeros(8)
            z[4 + 2 * i + j] = 1.0
            shares.append((TIES.T @ z, 0.0))
        for n in range(len(X)):
            rows.append({nodes[n, k]: 1.0 for k in range(2)})
            sums.append(C / S)
        for n, k in product(range(1, len(X)), range(2)):
            rows.append({nodes[n - 1, k]: -1.0} | {edges[n, k, j]: 1.0 for j in range(2)})
            rows.append({nodes[n, k]: -1.0} | {edges[n, i, k]: 1.0 for i in range(2)})
            sums += [0.0, 0.0]
        true += sum(shares[first + 2 * n + y[n]][0] for n in range(len(X)))
        true += sum(shares[edges[n, y[n - 1], y[n]]][0] for n in range(1, len(X)))
    F, cost = np.array([f for f, _ in shares]), np.array([c for _, c in shares])
    A = np.zeros((len(rows), len(shares)))
    for r, row in enumerate(rows):
        A[r, list(row)] = list(row.values())

    def objective(mu):
        w = C / S * true - F.T @ mu
        return 0.5 * w @ w - cost @ mu, -F @ w - cost

    # Some constraints follow from others: as many as are independent.
    Q = np.linalg.svd(A)[2][: np.linalg.matrix_rank(A)]
    start = np.linalg.lstsq(A, np.array(sums), rcond=None)[0]
    found = minimize(
        objective,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * len(shares),
        constraints={"type": "eq", "fun": lambda mu: Q @ (mu - start), "jac": lambda mu: Q},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return -found.fun, len(shares)


def slacks(block, model):
    return [model.summarize(block[s : s + 1]).loss for s in range(len(block))]


@example("gong-xu/gx-10.m3n")
def _(given):
    block, C = block_of(given["sequences"]), given["C"]
    found = fit(block, C)
    w, model = found.model, at(found.model)
    primal, dual = found.objective, -found.trace[-1]
    factored, variables = factored_dual(block, C)
    test = np.column_stack([given["test_x"], np.ones(len(given["test_x"]))])
    return {
        "objective": primal,
        "w": w,
        "w_exact_over_67": 67 * w,
        "xi": slacks(block, model),
        "primal_equals_dual_equals_factored": np.ptp([primal, dual, factored]) < 1e-6,
        "train_decode_correct": (model.chains(block).best()[0] == block.y).all(),
        "test_decode": model.chains(Sequences(test, np.array([0, len(test)]))).best()[0],
        "full_dual_variables": sum(2**n for n in block.lengths),
        "factored_variables": variables,
    }


@example("gong-xu/gx-p10.8")
def _(given):
    block = block_of(given["sequences"])
    n = len(block)
    scaled = fit(block, n / 1.0).objective  # lambda = n / C = 1
    return {"objective_scaled": scaled}
