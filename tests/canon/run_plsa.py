"""Probabilistic latent semantic analysis: Li ch. 18, CS181 ch. 9, and the slides on topic models."""

import warnings

import numpy as np

from suffice.core.blocks import Rows
from suffice.topics import ProbabilisticLatentSemanticAnalysis as PLSA
from suffice.topics.probabilistic_latent_semantic_analysis import Aspects

from ._canon import example


def em(X, topics, theta, steps):
    """Hofmann's EM, which keeps the weights of documents: the likelihood before a step, and its outcome."""
    model, found = Aspects(np.array(topics), np.full(len(topics), 1.0 / len(topics))), []
    for _ in range(steps):
        s = model.summarize_at(theta, Rows(np.asarray(X, float), None, np.ones(len(X))))
        theta, before, model = model.fold_in(X, theta, 1), s.log_likelihood, model.estimate(s)
        found.append((before, model, theta))
    return found


def best(X, K, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = {"tol": 1e-9, "max_iter": 1000, "n_init": 12, "random_state": 0} | how
        return PLSA(K, **settings).fit(X)


def shares(X):
    """P(d), and the part of the log-likelihood that it has."""
    length = X.sum(axis=1)
    return length / length.sum(), float(length @ np.log(length / length.sum()))


@example("li-unsupervised/li-18.f1")
def _(given):
    X = np.array(given["N"]).T
    p, joint = shares(X)
    seen = X > 0
    saturated = (X[seen] * np.log((X / X.sum(axis=1, keepdims=True))[seen])).sum()
    return {
        "best_loglik_conditional": [X.sum() * best(X, K).lower_bound_ for K in given["K_values"]],
        "sum_n_log_Pd": joint,
        "Pd": p.tolist(),
        "saturated_loglik_conditional": saturated,
    }


@example("li-unsupervised/li-18.em")
def _(given):
    X, topics, theta = np.array(given["N"]).T, np.array(given["Pw_z"]).T, np.array(given["Pz_d"]).T
    run = em(X, topics, theta, 2000)
    _, joint = shares(X)
    joints = theta[:, :, None] * topics
    return {
        "loglik_conditional": [step[0] for step in run[:3]],
        "loglik_joint": [step[0] + joint for step in run[:3]],
        "posterior_z1": (joints[:, 0] / joints.sum(axis=1)).T.tolist(),
        "Pw_z_1": run[0][1].topics.T.tolist(),
        "Pz1_d_1": run[0][2][:, 0].tolist(),
        "limit_loglik_conditional": run[-1][0],
    }


@example("li-unsupervised/li-18.ex2")
def _(given):
    X, topics, Pz = np.array(given["N"]).T, np.array(given["Pw_z"]).T, np.array(given["Pz"])
    Pd_z = np.array(given["Pd_z"])
    p, joint = shares(X)
    theta = Pz * Pd_z / p[:, None]  # Bayes
    run = em(X, topics, theta, 3)
    first, second = run[0], run[1]
    after = first[2] * p[:, None] / first[1].weight
    return {
        "loglik_joint": [step[0] + joint for step in run],
        "Pz_1": first[1].weight.tolist(),
        "Pd_z_1": after.tolist(),
        "Pz_2": second[1].weight.tolist(),
    }


@example("cs181/lda-em-step")
def _(given):
    phi, theta = np.array(given["phi"]), np.array(given["theta"])
    documents = given["documents_word_indices"]
    X = np.array([np.bincount(words, minlength=phi.shape[1]) for words in documents])
    run = em(X, phi, theta, 2)
    q = [
        [(theta[n] * phi[:, w] / (theta[n] @ phi[:, w])).tolist() for w in d] for n, d in enumerate(documents)
    ]
    return {
        "q": q,
        "theta_new": run[0][2].tolist(),
        "phi_new": run[0][1].topics.tolist(),
        "loglik_before": run[0][0],
        "loglik_after": run[1][0],
    }


@example("stats601-and-slides/plsi-em-one-step")
def _(given):
    X = np.array(given["counts_doc_by_word"])
    run = em(X, given["P(w|z)_0"], np.array(given["P(z|d)_0"]), 2)
    return {
        "P(z|d)_1": run[0][2].tolist(),
        "P(w|z)_1": run[0][1].topics.tolist(),
        "P(d)": shares(X)[0].tolist(),
        "loglik_0_given_d": run[0][0],
        "loglik_1_given_d": run[1][0],
    }


@example("li-unsupervised/li-18.ex3")
def _(given):
    X = np.array(given["N"]).T
    models = {K: best(X, K, n_init=20) for K in given["K_values"]}

    def groups(model):
        """Topics in the order of the first title that is of each, and the topics of titles."""
        theta = model.transform(X)
        order = list(dict.fromkeys(theta.argmax(axis=1).tolist()))
        return model.components_[order], theta[:, order]

    titles = np.array([f"T{n + 1}" for n in range(len(X))])
    topics2, theta2 = groups(models[2])
    topics3, theta3 = groups(models[3])
    # the file has the topic of T4 and T5 first, then that of T6, T7 and T9
    order = [theta3[3].argmax(), theta3[5].argmax(), theta3[0].argmax()]
    return {
        "best_loglik_conditional": [X.sum() * models[K].lower_bound_ for K in given["K_values"]],
        "sum_n_log_Pd": shares(X)[1],
        "k2": {
            "text_groups": [titles[theta2.argmax(axis=1) == z].tolist() for z in range(2)],
            "Pw_z1": topics2[0].tolist(),
            "Pw_z2": topics2[1].tolist(),
        },
        "k3": {
            "Pw_z1": topics3[order[0]].tolist(),
            "Pw_z2": topics3[order[1]].tolist(),
            "Pw_z3": topics3[order[2]].tolist(),
            "Pz_T3": theta3[2, order].tolist(),
        },
    }
