"""Arguments for the loops of native/strings.hpp."""

import numpy as np


def strings(rng, lengths, n_symbols):
    offset = np.cumsum([0, *lengths])
    return rng.integers(n_symbols, size=offset[-1]), offset


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    s, t = (strings(rng, [*rng.integers(most + 1, size=K), most], D) for most in (min(N, 40), D + 10))
    for n, decay in ((1, 0.5), (2, 1.0), (5, 0.3)):
        yield "subsequences", (*s, *s, D, n, decay, True)
        yield "subsequences", (*s, *t, D, n, decay, False)
        yield "own_subsequences", (*t, D, n, decay)
