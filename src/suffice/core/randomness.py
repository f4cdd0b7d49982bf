"""Random numbers: every stream has a purpose.

A stream is determined by its purpose, the seed of the user and the counters of its caller, such as the
iteration or the index of a block. Streams of different purposes are independent, also with equal seeds.
Otherwise, for example, all validation rows of a fit could be in one fold of cross-validation.
"""

from __future__ import annotations

from enum import IntEnum, unique

import numpy as np


@unique
class Purpose(IntEnum):
    """The purpose of a stream of random numbers, or of a hash of rows."""

    SEEDING = 0  # rows to start from: k-means++, landmarks, random responsibilities
    FOLDS = 1  # folds of cross_validate and GridSearch
    SPLIT = 2  # train_test_split
    VALIDATION = 3  # rows held out for early stopping
    CROSS_FITTING = 4  # folds of transformers that encode with the target
    INNER_FOLDS = 5  # folds that an estimator makes to choose its own parameters
    BOOTSTRAP = 6  # rows of the members of an ensemble
    FEATURES = 7  # features of the members of an ensemble, and their own seeds
    TREES = 8  # candidate features and thresholds of the nodes of a tree
    START = 9  # random initial parameters
    ORDER = 10  # the order in which rows, coordinates or steps are visited
    LATENT = 11  # latent variables of rows: labels, topics, factors
    PARAMETERS = 12  # parameters that a sampler draws from their posterior
    PROPOSALS = 13  # moves that a sampler proposes
    REFERENCE = 14  # reference data without structure, and permutations
    REASSIGNMENT = 15  # rows that replace centers of few rows
    SUBSAMPLE = 16  # a sample of rows for a first estimate
    GENERATED = 17  # data drawn from a fitted model
    PROBES = 18  # numerical helpers: starts of eigensolvers, example data
    IDENTITY = 19  # no draw: whether rows are equal, ties, fingerprints


def generator(purpose: Purpose, *seed: int) -> np.random.Generator:
    """Return the random number generator of a purpose, a seed and counters.

    Trailing counters of zero make no difference, as for `numpy.random.default_rng`: pass the same number of
    them for one purpose.
    """
    return np.random.Generator(np.random.PCG64(_sequence(purpose, seed)))


def key_of(purpose: Purpose, *seed: int) -> int:
    """Return 63 random bits of a purpose, a seed and counters, as a key for loops with their own counters."""
    return int(_sequence(purpose, seed).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _sequence(purpose: Purpose, seed: tuple[int, ...]) -> np.random.SeedSequence:
    # The streams of seeding are those of default_rng(seed).
    return np.random.SeedSequence(seed, spawn_key=(int(purpose),) if purpose else ())
