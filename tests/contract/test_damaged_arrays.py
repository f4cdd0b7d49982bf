"""Masked arrays and damaged sparse matrices: what is masked is missing, and no index leads outside."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.cluster import KMeans
from suffice.decomposition import BilinearNMF
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import ClassConditional, MixedNB
from suffice.ranking import PageRank
from suffice.sequence import ConditionalRandomField, HiddenMarkovModel
from suffice.topics import LatentDirichletAllocation

N, D = 40, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
Y = (X[:, 0] > 0).astype(int)
IDS = np.repeat([0, 1], N // 2)
THIRD = np.arange(N) == 3


def masked(values, where=THIRD):
    """With something else under the mask."""
    where = np.broadcast_to(where.reshape(-1, *[1] * (np.ndim(values) - 1)), np.shape(values))
    return np.ma.MaskedArray(np.where(where, 77, values), where)


REFUSED = {
    "X": lambda: LinearRegression().fit(masked(X), Y),
    "X of k-means": lambda: KMeans(2).fit(masked(X)),
    "X to predict": lambda: LinearRegression().fit(X, Y).predict(masked(X)),
    "y": lambda: LogisticRegression().fit(X, masked(Y)),
    "y of numbers": lambda: LinearRegression().fit(X, masked(X[:, 0])),
    "y of which some may be missing": lambda: ClassConditional().fit(X, masked(Y)),
    "y to score": lambda: LogisticRegression().fit(X, Y).score(X, masked(Y)),
    "sample_weight": lambda: LinearRegression().fit(X, Y, sample_weight=masked(np.ones(N))),
    "sample_weight of a kernel": lambda: BilinearNMF(2).fit(X, sample_weight=masked(np.ones(N))),
    "groups": lambda: HiddenMarkovModel(2).fit(X, groups=masked(IDS)),
    "labels of a list": lambda: ConditionalRandomField().fit([X[:20], X[20:]], [masked(Y)[:20], Y[20:]]),
    "a sequence of a list": lambda: ConditionalRandomField().fit([masked(X)[:20], X[20:]], [Y[:20], Y[20:]]),
    "links": lambda: PageRank().fit((masked(IDS), np.arange(N))),
    "weights of links": lambda: PageRank().fit((IDS, np.arange(N)), sample_weight=masked(np.ones(N))),
}


@pytest.mark.parametrize("what", REFUSED)
def test_masked_values_are_refused_where_nothing_can_be_missing(what):
    with pytest.raises(ValueError, match=r"is a masked array.*filled\(.*\)"):
        REFUSED[what]()


def test_masked_values_are_missing_where_they_can_be():
    holes = np.where(masked(X).mask, np.nan, X)
    one, two = (GaussianMixture(2, random_state=0).fit(given) for given in (masked(X), holes))
    assert (one.means_ == two.means_).all()
    assert (one.predict_proba(masked(X)) == two.predict_proba(holes)).all()
    whole = masked(np.round(5 * X).astype(int))
    one = GaussianMixture(2, random_state=0).fit(whole)
    assert np.abs(one.means_).max() < 77 / 4
    one, two = (HiddenMarkovModel(2, random_state=0).fit([g[:20], g[20:]]) for g in (masked(X), holes))
    assert (one.trace_ == two.trace_).all()
    words = np.array(["a", "b"], dtype=object)[Y][:, None]
    hidden = np.where(THIRD[:, None], None, words)
    kind = {"kinds": "categorical"}
    one, two = (MixedNB(**kind).fit(g, Y) for g in (masked(words), hidden))
    assert (one.predict_proba(words) == two.predict_proba(words)).all()


def test_a_mask_that_hides_nothing_changes_nothing():
    none = np.zeros(N, bool)
    one = LinearRegression().fit(masked(X, none), masked(Y, none), sample_weight=masked(np.ones(N), none))
    assert (one.coef_ == LinearRegression().fit(X, Y, sample_weight=np.ones(N)).coef_).all()


# --- sparse --------------------------------------------------------------------------------------------

S = sp.csr_array(np.where(X > 0, X, 0.0))


def outside(A):
    A.indices[3] = 77


def negative(A):
    A.indices[3] = -1


def backwards(A):
    A.indptr[2] = A.indptr[3] + 1


def beyond(A):
    A.indptr[-1] += 1000


def floating(A):
    A.indices = A.indices.astype(float)


def shorter(A):
    A.data = A.data[:-2]


DAMAGES = (outside, negative, backwards, beyond, floating, shorter)


def damaged(damage, kind=sp.csr_array, source=S):
    A = kind(source.copy())
    damage(A)
    return A


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_a_damaged_matrix_is_refused(kind, damage):
    words = r"X is a damaged sparse .*scipy\.sparse"
    with pytest.raises(ValueError, match=words):
        LogisticRegression().fit(damaged(damage, kind), Y)
    model = LogisticRegression().fit(S, Y)
    with pytest.raises(ValueError, match=words):
        model.predict(damaged(damage, kind))


@pytest.mark.parametrize("damage", [outside, negative, backwards])
def test_wherever_it_comes(damage):
    words = "damaged sparse"
    labels = [Y[:20], Y[20:]]
    with pytest.raises(ValueError, match=words):
        ConditionalRandomField().fit([damaged(damage, source=S[:20]), S[20:]], labels)
    with pytest.raises(ValueError, match=words):
        PageRank().fit(damaged(damage, source=sp.csr_array(np.abs(X[:D]))))
    with pytest.raises(ValueError, match=words):
        LatentDirichletAllocation(2).log_joint(damaged(damage), np.zeros(3))


def test_other_formats():
    for kind in (sp.coo_array, sp.bsr_array, sp.lil_array, sp.dok_array, sp.dia_array):
        LogisticRegression().fit(kind(S), Y)
    A = S.tocoo()
    A.coords = A.coords[0], np.where(np.arange(A.nnz) == 3, 99, A.coords[1])
    B = S.tobsr((2, 2))
    B.indices[0] = 99
    C = S.tolil()
    C.rows[0] = [99] * len(C.rows[0])
    for bad in (A, B, C):
        with pytest.raises(ValueError, match="X is a damaged sparse"):
            LogisticRegression().fit(bad, Y)


def test_what_is_passed_is_not_changed():
    """SciPy's check cuts arrays that are longer than they need to be."""
    A = S.copy()
    A.data, A.indices = (np.append(part, part[:5]) for part in (A.data, A.indices))
    A.indptr = A.indptr.astype(np.int64)
    before = A.data, A.indices, A.indptr
    LogisticRegression().fit(A, Y)
    assert all(a is b for a, b in zip((A.data, A.indices, A.indptr), before, strict=True))
