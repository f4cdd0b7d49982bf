"""Hidden Markov models, and the one linear Gaussian chain."""

from itertools import pairwise, product

import numpy as np

from suffice.core.blocks import Sequences
from suffice.families import Categorical
from suffice.sequence import Chains, HiddenMarkov, HiddenMarkovModel, LinearGaussianStateSpace, StateFilter

from ._canon import example, given
from ._numeric import column, gradient, stopped

COLOURS = ["red", "white"]


def discrete(pi, A, B):
    B = np.array(B, float)
    return HiddenMarkov(np.array(pi), np.array(A, float), Categorical((np.arange(float(B.shape[1])),), (B,)))


def symbols(observed, names):
    """Their numbers; None is not observed."""
    return column([np.nan if o is None else names.index(o) for o in observed])


def fitted(model, X):
    """The estimator at a model, from which it takes one step."""
    estimator = HiddenMarkovModel(len(model.start), emission="categorical", init_params=model, max_iter=1)
    return stopped(estimator, X)


def unmoved(model, X):
    """The estimator at a model, which stays there."""
    everything = ("start", "transition", "emission")
    K = len(model.start)
    return HiddenMarkovModel(K, init_params=model, fixed=everything, tol=1e-8).fit(X)


def probability(model, X):
    return np.exp(model.chains(X).log_sum[0])


def forward(model, X):
    """alpha_t(i) = p(x_1 .. x_t, z_t = i)."""
    stream, out = StateFilter(model), []
    for x in X:
        share = stream.update(x)
        out.append(share * np.exp(stream.log_likelihood))
    return np.array(out)


def backward(model, X):
    """beta_t(i) = p(x_t+1 .. x_T given z_t = i), by the chain that begins after t in i."""
    after = []
    for t in range(1, len(X)):
        rest = [model.replace(start=row) for row in model.transition]
        after.append([np.exp(m.chains(X[t:]).log_sum_backward()[0]) for m in rest])
    return [*after, [1.0] * len(model.start)]


def viterbi(model, X):
    """delta_t(i): the best path that ends in i at t; psi_t(i): the state before it on that path."""
    delta, psi = np.zeros((len(X), len(model.start))), np.zeros((len(X), len(model.start)), int)
    for t, i in product(range(len(X)), range(len(model.start))):
        states = np.full(t + 1, -1)
        states[t] = i
        path, score = model.chains(X[: t + 1], states=states).best()
        delta[t, i] = np.exp(score[0])
        psi[t, i] = path[t - 1] + 1 if t else 0
    return delta, psi


def li(given):
    return discrete(given["pi"], given["A"], given["B"]), symbols(given["O"], COLOURS)


def cs181(given):
    return discrete(given["theta"], given["T"], given["pi"]), column(given["x"])


def gong_xu(given):
    y = symbols(given["y"], ["o1", "o2"])
    return discrete(given["pi"], given["P"], given["Q_states_by_outputs"]), y


# Li --------------------------------------------------------------------------------------------


@example("li-supervised/li-10.1")
def _(given):
    balls = np.array([given["red"], given["white"]]).T
    A = np.array([[0, 1, 0, 0], [0.4, 0, 0.6, 0], [0, 0.4, 0, 0.6], [0, 0, 0.5, 0.5]])
    model = discrete(np.full(4, 0.25), A, balls / balls.sum(axis=1, keepdims=True))
    X = symbols(given["O"], COLOURS)
    estimator = unmoved(model, X)
    nearest = estimator.set_params(algorithm="posterior").predict(X)
    impossible = [[i + 1, j + 1] for i, j in pairwise(nearest) if A[i, j] == 0]
    path, score = model.chains(X).best()
    return {
        "pi": estimator.startprob_,
        "A": estimator.transmat_,
        "B": estimator.model_.emission.probability[0],
        "P_O": np.exp(estimator.log_likelihood(X)[0]),
        "P_star": np.exp(score[0]),
        "viterbi": path + 1,
        "approx_decode": nearest + 1,
        "approx_uses_zero_transition": impossible[0],
        "gamma": estimator.predict_proba(X),
    }


@example("li-supervised/li-10.2")
def _(given):
    model, X = li(given)
    return {"alpha": forward(model, X), "P_O": probability(model, X)}


@example("li-supervised/li-10.2-posteriors")
def _(given):
    model, X = li(given)
    estimator = unmoved(model, X)
    alpha, beta = forward(model, X), np.array(backward(model, X))
    counts = model.summarize(Sequences(X, np.array([0, len(X)])))
    likelihood = model.transition * (np.array(given["B"])[:, X[1:, 0].astype(int)].T * beta[1:])[:, None, :]
    return {
        "P_O": probability(model, X),
        "beta": beta,
        "gamma": estimator.predict_proba(X),
        "xi": estimator.pair_posteriors(X)[1:],
        "expected_visits": estimator.predict_proba(X).sum(axis=0),
        "expected_departures": counts.moves.sum(axis=1),
        "expected_transitions": counts.moves,
        "eq_10_22": [(alpha[t][:, None] * likelihood[t]).sum() for t in range(len(X) - 1)],
        "approx_decode": estimator.set_params(algorithm="posterior").predict(X) + 1,
    }


@example("li-supervised/li-10.3", "li-supervised/li-ex-10.3")
def _(given):
    model, X = li(given)
    path, score = model.chains(X).best()
    delta, psi = viterbi(model, X)
    assert (unmoved(model, X).predict(X) == path).all()
    return {"P_star": np.exp(score[0]), "path": path + 1, "delta": delta, "psi": psi}


@example("li-supervised/li-10-baum-welch")
def _(given):
    model, X = li(given)
    estimator = fitted(model, X)
    return {
        "pi": estimator.startprob_,
        "A": estimator.transmat_,
        "B": estimator.model_.emission.probability[0],
        "log_likelihood_before": estimator.trace_[0] * len(X),
        "log_likelihood_after": estimator.log_likelihood(X)[0],
    }


@example("li-supervised/li-ex-10.1")
def _(given):
    model, X = li(given)
    return {"beta": backward(model, X), "P_O": np.exp(model.chains(X).log_sum_backward()[0])}


@example("li-supervised/li-ex-10.2")
def _(given):
    model, X = li(given)
    t, state = given["t"] - 1, given["state"] - 1
    gamma = unmoved(model, X).predict_proba(X)
    return {
        "P_O": probability(model, X),
        "alpha_4": forward(model, X)[t],
        "beta_4": backward(model, X)[t],
        "gamma_4": gamma[t],
        "answer": gamma[t, state],
    }


@example("li-supervised/li-10-supervised")
def _(given):
    X = [symbols(s["O"], given["symbols"]) for s in given["sequences"]]
    estimator = HiddenMarkovModel(given["states"], emission="categorical")
    estimator.fit(X, [s["I"] for s in given["sequences"]])
    return {
        "pi": estimator.startprob_,
        "A": estimator.transmat_,
        "B": estimator.model_.emission.probability[0],
        "transition_counts": estimator.statistics_.moves,
        "emission_counts": estimator.statistics_.emission.count[0],
    }


# CS181 -----------------------------------------------------------------------------------------


@example("cs181/hmm-joint")
def _(given):
    model, X = cs181(given)
    return np.exp(model.chains(X).score(np.array(given["s"]))[0])


@example("cs181/hmm-alpha-beta")
def _(given):
    model, X = cs181(given)
    return {"alpha": forward(model, X), "beta": backward(model, X)}


@example("cs181/hmm-pseq")
def _(given):
    model, X = cs181(given)
    paths = np.array(list(product(range(2), repeat=len(X))))
    p = sum(np.exp(model.chains(X).score(path)[0]) for path in paths)
    assert np.isclose(p, np.exp(unmoved(model, X).score(X) * len(X)), rtol=1e-12)
    at_each = (forward(model, X) * backward(model, X)).sum(axis=1)
    return {"p": p, "sum_alpha_beta_each_t": at_each}


@example("cs181/hmm-smoothing")
def _(given):
    model, X = cs181(given)
    return unmoved(model, X).predict_proba(X)


@example("cs181/hmm-filtering")
def _(given):
    model, X = cs181(given)
    return unmoved(model, X).filter(X)


@example("cs181/hmm-pair-posterior")
def _(given):
    model, X = cs181(given)
    return unmoved(model, X).pair_posteriors(X)[1:]


@example("cs181/hmm-next-emission")
def _(given):
    model, X = cs181(given)
    B = model.emission.probability[0]
    begun = [X[:t] for t in range(1, len(X) + 1)]
    ahead = unmoved(model, X).predict_next(begun) @ B
    return {f"after_{t + 1}": row for t, row in enumerate(ahead)}


@example("cs181/hmm-viterbi")
def _(given):
    model, X = cs181(given)
    path, score = model.chains(X).best()
    delta, psi = viterbi(model, X)
    return {
        "gamma": delta,
        "backpointers": {f"t{t + 1}": psi[t] - 1 for t in range(1, len(X))},
        "path": unmoved(model, X).predict(X),
        "joint_probability": np.exp(model.chains(X).score(path)[0]),
        "posterior_probability": np.exp(score[0] - model.chains(X).log_sum[0]),
    }


@example("cs181/hmm-viterbi-vs-smoothing")
def _(given):
    model, X = cs181(given)
    estimator = unmoved(model, X)
    return {
        "best_path": estimator.predict(X),
        "smoothing": estimator.predict_proba(X),
        "smoothing_argmax": estimator.set_params(algorithm="posterior").predict(X),
    }


@example("cs181/hmm-em-step")
def _(given):
    model = discrete(given["theta"], given["T"], given["pi"])
    X = [column(sequence) for sequence in given["sequences"]]
    estimator = fitted(model, X)
    return {
        "theta_new": estimator.startprob_,
        "T_new": estimator.transmat_,
        "pi_new": estimator.model_.emission.probability[0],
        "loglik_before": estimator.trace_[0] * sum(map(len, X)),
        "loglik_after": estimator.log_likelihood(X).sum(),
    }


@example("cs181/hmm-counts-mle")
def _(given):
    X = [column(sequence) for sequence in given["symbols"]]
    estimator = HiddenMarkovModel(given["K"], emission="categorical").fit(X, given["states"])
    return {
        "theta": estimator.startprob_,
        "T": estimator.transmat_,
        "pi": estimator.model_.emission.probability[0],
    }


@example("cs181/hmm-long-sequence")
def _(_given):
    model, X = cs181(given("cs181/hmm-pseq"))
    X = np.tile(X, (2000, 1))[:5000]
    with np.errstate(under="ignore"):
        log_density = model.emission.log_density(X)
        alpha = model.start * np.exp(log_density[0])
        for x in log_density[1:]:
            alpha = alpha @ model.transition * np.exp(x)
    assert alpha.sum() == 0.0
    return bool(np.isfinite(model.chains(X).log_sum[0]))


# Gong and Xu -----------------------------------------------------------------------------------


@example("gong-xu/gx-7.cost")
def _(given):
    """As a sum over paths, and as products of the moves of each step, which the chain has."""
    S, n = given["S"], given["n"]
    chains = Chains(np.zeros((n, S)), np.zeros(S), np.zeros((n, S, S)), np.array([0, n]))
    assert np.isclose(chains.log_sum[0], n * np.log(S))
    return {"forward_n_S2": chains.move.size, "naive": 2.0 * n * float(S) ** n}


@example("gong-xu/gx-p7.2")
def _(given):
    """The step before that of o1 is one that was not observed; both have the stationary distribution."""
    P = np.array(given["P"])
    pi = np.linalg.matrix_power(P, 100)[0]
    X = column([np.nan, 0.0])
    model = discrete(pi, P, given["Q_states_by_outputs"])
    before, now = model.chains(X).smoothed()[0]
    return {"P_s1_now": now[0], "P_s1_previous": before[0]}


@example("gong-xu/gx-7.fb")
def _(given):
    model, X = gong_xu(given)
    estimator, after = unmoved(model, X), fitted(model, X)
    path, score = model.chains(X).best()
    nearest = estimator.predict_proba(X).argmax(axis=1)
    return {
        "alpha": forward(model, X),
        "beta": backward(model, X),
        "c": estimator.predict_proba(X),
        "xi_sum": estimator.statistics_.moves,
        "likelihood": probability(model, X),
        "viterbi_path": [f"s{i + 1}" for i in path],
        "viterbi_probability": np.exp(score[0]),
        "posterior_argmax_path": [f"s{i + 1}" for i in nearest],
        "bw_pi": after.startprob_,
        "bw_P": after.transmat_,
        "bw_Q": after.model_.emission.probability[0],
        "likelihood_after_one_step": np.exp(after.log_likelihood(X)[0]),
    }


@example("gong-xu/gx-p7.4")
def _(_given):
    model, X = gong_xu(given("gong-xu/gx-7.fb"))

    def log_likelihood(logits):
        A = np.exp(logits)
        return model.replace(transition=A / A.sum(axis=1, keepdims=True)).chains(X).log_sum[0]

    _, by_logit = model.gradient(model.summarize(Sequences(X, np.array([0, len(X)]))))
    differences = gradient(log_likelihood, np.log(model.transition))
    return {"formula": bool(np.allclose(by_logit, differences, atol=1e-8)), "gradient_alpha": by_logit}


@example("gong-xu/gx-p7.7")
def _(given):
    model, X = gong_xu(given)
    return {"P_y": np.exp(unmoved(model, X).log_likelihood(X)[0])}


@example("gong-xu/gx-p7.8")
def _(given):
    model = LinearGaussianStateSpace(given["a"], given["b"], given["q"], given["r"])
    mean, variance = model.filter(given["y"])
    return {"filtered_mean": mean, "filtered_var": variance}
