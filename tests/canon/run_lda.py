"""Latent Dirichlet allocation: Li ch. 20 and ch. 13, CS181 §9.6, and the Dirichlet distribution."""

from itertools import product

import numpy as np
from scipy.special import gammaln

from suffice.core.blocks import Rows
from suffice.families import Dirichlet
from suffice.topics import LatentDirichletAllocation, ProbabilisticLatentSemanticAnalysis

from ._canon import example
from ._numeric import gradient, stopped

TIGHT = {"mean_change_tol": 1e-14, "max_doc_update_iter": 10000}


def counts(texts, V):
    """Rows of counts; the words of texts are numbered from one."""
    return np.array([np.bincount(np.array(text) - 1, minlength=V) for text in texts], float)


def evidence(lda, row):
    """p(text), by the topics of all its words."""
    alpha, phi = lda.model_.alpha, lda.model_.probability
    words = np.repeat(np.arange(len(row)), row.astype(int))
    paths = product(range(len(alpha)), repeat=len(words))
    of_path = lambda z: Dirichlet(alpha).log_evidence(np.bincount(z, minlength=len(alpha)))  # noqa: E731
    return np.log(sum(np.exp(of_path(z)) * phi[words, list(z)].prod() for z in paths))


@example("li-unsupervised/li-20.vb")
def variational_parameters(given):
    X = counts([given["text"]], 3)
    words = np.array(given["text"]) - 1

    def known(**how):
        return LatentDirichletAllocation.from_topics(given["phi"], doc_topic_prior=given["alpha"], **how)

    def eta(gamma):
        r = known().model_.probability[words] * np.exp(Dirichlet(gamma).expected_log)
        return r / r.sum(axis=1, keepdims=True)

    lda = known(**TIGHT)
    gamma = lda.transform(X, normalize=False)[0]
    start = known(max_doc_update_iter=0).transform(X, normalize=False)[0]
    return {
        "eta_iter1": eta(start),
        "gamma_iter1": known(max_doc_update_iter=1).transform(X, normalize=False)[0],
        "gamma_iter2": known(max_doc_update_iter=2, mean_change_tol=0).transform(X, normalize=False)[0],
        "gamma": gamma,
        "eta": eta(gamma),
        "theta_mean": lda.transform(X)[0],
        "elbo": lda.evidence_lower_bound(X)[0],
        "exact_log_evidence": evidence(lda, X[0]),
    }


@example("li-unsupervised/li-20.vbem")
def variational_em(given):
    X = counts(given["texts"], 3)
    lda = LatentDirichletAllocation.from_topics(given["phi"], doc_topic_prior=given["alpha"], **TIGHT)
    s = lda.model_.summarize(Rows(X, None, np.ones(len(X))))
    after = lda.model_.estimate(s)
    new = LatentDirichletAllocation.from_topics(after.probability.T, doc_topic_prior=given["alpha"], **TIGHT)
    M, start = len(X), Dirichlet(np.array(given["alpha"], float))
    mean_log = s.log_theta / M
    _, diagonal, common = start.slopes(mean_log)
    slope = gradient(lambda a: M * Dirichlet(a).log_likelihood(mean_log), start.alpha)
    return {
        "gammas": lda.transform(X, normalize=False),
        "elbo_total": s.bound,
        "exact_log_evidence": sum(evidence(lda, row) for row in X),
        "expected_counts": s.word.T,
        "phi_new": after.probability.T,
        "digamma_sums": s.log_theta,
        "alpha_gradient": slope,
        "alpha_hessian": M * (np.diag(diagonal) + common),
        "alpha_newton_1": start.estimate(mean_log, max_iter=1).alpha,
        "alpha_newton_2": start.estimate(mean_log, max_iter=2).alpha,
        "alpha_limit": start.estimate(mean_log).alpha,
        # With gamma and eta as they were: only what phi is multiplied by changes.
        "elbo_total_after_phi": s.bound + (s.word * np.log(after.probability / lda.model_.probability)).sum(),
        "exact_log_evidence_after_phi": sum(evidence(new, row) for row in X),
    }


@example("li-unsupervised/li-13.t3-lda")
def exact_posterior(given):
    """All assignments of topics, in the order of the texts and in each by word, as the texts have them. The
    priors are symmetric: that the two topics change names changes no probability."""
    X, K = counts(given["texts"], given["V"]), given["K"]
    every = np.array([(0, *z) for z in product(range(K), repeat=int(X.sum()) - 1)])
    block = np.array(given["z_block"]).ravel() - 1
    found = {name: [] for name in NAMES}
    for case in given["cases"]:
        lda = LatentDirichletAllocation(K, doc_topic_prior=case["alpha"], topic_word_prior=case["beta"])
        logs = np.array([lda.log_joint(X, z) for z in every])
        log_evidence = np.logaddexp.reduce(logs) + np.log(2.0)
        p = 2.0 * np.exp(logs - log_evidence)
        either = (every == block).all(axis=1) | (every == 1 - block).all(axis=1)
        values = (
            log_evidence,
            lda.log_joint(X, block),
            p[either].sum(),
            p[every[:, 0] == every[:, 1]].sum(),
            p[every[:, 0] == every[:, 2]].sum(),
            p[every[:, 0] == every[:, 6]].sum(),
        )
        for name, value in zip(NAMES, values, strict=True):
            found[name].append(value)
    return {**found, "alpha1_beta1_block": _conditionals(X, block)}


NAMES = (
    "log_evidence",
    "log_joint_z_block",
    "prob_block_either_labelling",
    "prob_same_topic_within_text1",
    "prob_same_topic_word1_text1_text2",
    "prob_same_topic_text1_first_text4_first",
)


def _conditionals(X, z):
    """The topic of the first word given all others, and the means given all."""
    lda = LatentDirichletAllocation(2, doc_topic_prior=1.0, topic_word_prior=1.0)
    logs = np.array([lda.log_joint(X, np.append(k, z[1:])) for k in range(2)])
    p = np.exp(logs - np.logaddexp.reduce(logs))
    words = np.repeat(np.tile(np.arange(6), 6), X.ravel().astype(int))
    doc = np.repeat(np.arange(6), 2)
    # n_mk + alpha over their sum, times n_kv + beta over theirs, without the word itself.
    text = np.bincount(z[1:][doc[1:] == 0], minlength=2) + 1.0
    by_topic = [np.bincount(words[1:][z[1:] == k], minlength=6) + 1.0 for k in range(2)]
    unnormalised = [float(text[k] / text.sum() * by_topic[k][0] / by_topic[k].sum()) for k in range(2)]
    np.testing.assert_allclose(p, np.array(unnormalised) / sum(unnormalised))
    return {
        "full_conditional_token1": p,
        "unnormalised": unnormalised,
        "theta_text1": Dirichlet(np.ones(2)).posterior(np.bincount(z[doc == 0], minlength=2)).mean,
        "phi_topic1": Dirichlet(np.ones(6)).posterior(np.bincount(words[z == 0], minlength=6)).mean,
    }


@example("li-unsupervised/li-20.ex2")
def titles(given):
    """The best assignments are among those in which all words of a title have one topic."""
    X = np.array(given["N"], float).T
    lengths = X.sum(axis=1).astype(int)
    best, partitions, of_one = [], {}, []
    for case in given["cases"]:
        K = case["K"]
        lda = LatentDirichletAllocation(K, doc_topic_prior=case["alpha"], topic_word_prior=case["beta"])
        every = _up_to_names(len(X), K)
        by_topic = np.einsum("ank,nv->akv", np.eye(K)[every], X)  # texts of one topic have the same factor
        beta = case["beta"]
        logs = gammaln(by_topic + beta).sum(axis=(1, 2)) - gammaln(by_topic.sum(axis=2) + 11 * beta).sum(
            axis=1
        )
        z = every[logs.argmax()]
        best.append(lda.log_joint(X, np.repeat(z, lengths)))
        groups = [[f"T{n + 1}" for n in range(len(X)) if z[n] == k] for k in range(K)]
        partitions.setdefault(K, []).append(sorted(groups))
        if K == 2:
            of_one.append(lda.log_joint(X, np.zeros(lengths.sum(), int)))
    assert all(len({str(p) for p in found}) == 1 for found in partitions.values())
    return {
        "best_assignment_K2": partitions[2][0],
        "best_assignment_K3": partitions[3][0],
        "log_joint_best": best,
        "log_joint_all_one_topic_K2": of_one,
    }


def _up_to_names(n, K):
    """Topics of n titles, numbered as they first appear."""
    found = [(0,)]
    for _ in range(n - 1):
        found = [(*z, k) for z in found for k in range(min(K, max(z) + 2))]
    return np.array(found)


@example("cs181/lda-word-marginal")
def word_marginal(given):
    theta = np.array(given["theta_n"])
    lda = LatentDirichletAllocation.from_topics(given["phi"])
    return lda.model_.probability @ theta


@example("stats601-and-slides/lda-topic-model-identities")
def identities(given):
    """Documents drawn from the generative story; and the conditional of the sampler, which is that of the
    joint."""
    rng = np.random.default_rng(0)
    alpha, eta, V, n = np.array([0.5, 1.5, 1.0]), 0.4, 4, 1500
    X = np.zeros((n, V))
    for i in range(n):
        phi = rng.dirichlet(np.full(V, eta), size=3)
        lda = LatentDirichletAllocation.from_topics(
            phi, doc_topic_prior=alpha, random_state=rng.integers(1 << 31)
        )
        X[i] = lda.sample(1, length=1)[0].toarray()
    error = np.sqrt(0.25 * 0.75 / n)
    uniform = (np.abs(X.mean(axis=0) - 1.0 / V) < 4 * error).all()
    phi = rng.dirichlet(np.ones(V), size=3)
    lda = LatentDirichletAllocation.from_topics(phi, doc_topic_prior=alpha, random_state=0)
    drawn = lda.sample(n, length=1)[0].mean(axis=0)
    mixed = (np.abs(drawn - Dirichlet(alpha).mean @ phi) < 4 * np.sqrt(0.25 / n)).all()
    X, z = np.array([[2, 1, 0, 0], [0, 1, 1, 1]]), np.array([0, 1, 1, 2, 0, 2])
    lda = LatentDirichletAllocation(3, doc_topic_prior=alpha, topic_word_prior=eta)
    joint = np.exp([lda.log_joint(X, np.append(k, z[1:])) for k in range(3)])
    words = np.array([0, 0, 1, 1, 2, 3])
    n_dk = np.bincount(z[1:3], minlength=3)
    n_kw, n_k = np.bincount(z[1:][words[1:] == 0], minlength=3), np.bincount(z[1:], minlength=3)
    conditional = (n_dk + alpha) * (n_kw + eta) / (n_k + V * eta)
    return bool(uniform and mixed and np.allclose(joint / joint.sum(), conditional / conditional.sum()))


@example("li-unsupervised/li-13.t3")
def idealised_table(given):
    """The table is the limit of small priors, and the optimum of maximum likelihood."""
    X = np.array(given["N"], float).T
    plsa = stopped(
        ProbabilisticLatentSemanticAnalysis(2, tol=1e-12, max_iter=3000, n_init=20, random_state=0), X
    )
    drawn = LatentDirichletAllocation(
        2, solver="gibbs", doc_topic_prior=1e-8, topic_word_prior=1e-8, max_iter=200, random_state=1
    ).fit(X)
    order = np.argsort(-drawn.components_[:, 0])
    topics = drawn.components_ / drawn.components_.sum(axis=1, keepdims=True)
    length = X.sum(axis=1)
    best = X.sum() * plsa.lower_bound_
    return {
        "topic_word": topics[order],
        "text_topic": drawn.transform(X)[:, order],
        "plsa_max_loglik_conditional": best,
        "plsa_max_loglik_joint": best + length @ np.log(length / length.sum()),
    }
