"""Types of the compiled loops: `python -m tests.loops.stubs` writes this file."""

import numpy as np
from numpy.typing import NDArray

ALL: tuple[str, ...]
LEVELS: tuple[str, ...]
LEVEL: str

class _boosting:
    @staticmethod
    def add_entries(
        codes: NDArray[np.uint8], rows: NDArray[np.uint32], entry: NDArray[np.int64], hist: NDArray[np.int64]
    ) -> None: ...
    @staticmethod
    def pack(
        g: NDArray[np.float64],
        h: NDArray[np.float64],
        gradient_unit: float,
        curvature_unit: float,
        lane: int,
        out: NDArray[np.int64],
    ) -> None: ...
    @staticmethod
    def add_to_rows(
        rows: NDArray[np.uint32],
        start: NDArray[np.int64],
        stop: NDArray[np.int64],
        value: NDArray[np.float64],
        k: int,
        score: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def grow_newton(
        codes: NDArray[np.uint8],
        columns: NDArray[np.uint8],
        rows: NDArray[np.uint32],
        entry: NDArray[np.int64],
        lane: int,
        features: tuple[NDArray[np.int64], NDArray[np.bool]],
        groups: NDArray[np.bool],
        rules: tuple[int, int, int, float, float],
        limits: tuple[int, int, int, float, int, int, bool, int, NDArray[np.int8]],
        threads: int,
        least_shared: int,
    ) -> tuple: ...
    @staticmethod
    def find_newton_split(
        hist: NDArray[np.int64],
        total: NDArray[np.int64],
        features: tuple[NDArray[np.int64], NDArray[np.bool]],
        allowed: NDArray[np.bool],
        rules: tuple[int, int, int, float, float],
        limits: tuple[int, int, int, float, int, int, bool, int, NDArray[np.int8]],
        root: tuple[int, int, float, float],
        codes: NDArray[np.uint8],
        rows: NDArray[np.uint32],
    ) -> tuple: ...

class _buckets:
    @staticmethod
    def merge(
        low_a: NDArray[np.float64],
        high_a: NDArray[np.float64],
        count_a: NDArray[np.float64],
        low_b: NDArray[np.float64],
        high_b: NDArray[np.float64],
        count_b: NDArray[np.float64],
        dropped: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
    @staticmethod
    def compress(
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        count: NDArray[np.float64],
        dropped: int,
        capacity: int,
    ) -> tuple[int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
    @staticmethod
    def find_buckets(
        x: NDArray[np.float64],
        high: NDArray[np.float64],
        out: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.int64],
    ) -> None: ...

class _chains:
    @staticmethod
    def forward(
        E: NDArray[np.float64],
        start: NDArray[np.float64],
        moves: NDArray[np.float64],
        offset: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool]]: ...
    @staticmethod
    def smooth(
        E: NDArray[np.float64],
        start: NDArray[np.float64],
        moves: NDArray[np.float64],
        turned: NDArray[np.float64],
        offset: NDArray[np.int64],
        weight: NDArray[np.float64],
    ) -> tuple[
        NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.bool], NDArray[np.bool]
    ]: ...
    @staticmethod
    def best_paths(
        U: NDArray[np.float64],
        start: NDArray[np.float64],
        moves: NDArray[np.float64],
        offset: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    @staticmethod
    def k_best_paths(
        U: NDArray[np.float64], start: NDArray[np.float64], moves: NDArray[np.float64], count: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    @staticmethod
    def exp_below_largest(U: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @staticmethod
    def log_forward(
        U: NDArray[np.float64],
        start: NDArray[np.float64],
        moves: NDArray[np.float64],
        offset: NDArray[np.int64],
    ) -> NDArray[np.float64]: ...
    @staticmethod
    def log_backward(
        U: NDArray[np.float64], moves: NDArray[np.float64], offset: NDArray[np.int64]
    ) -> NDArray[np.float64]: ...
    @staticmethod
    def add_log_pairs(
        before: NDArray[np.float64],
        U: NDArray[np.float64],
        after: NDArray[np.float64],
        moves: NDArray[np.float64],
        total: float,
        weight: float,
        pairs: NDArray[np.float64],
    ) -> None: ...

class _coordinates:
    @staticmethod
    def duality_gap(
        b: NDArray[np.float64],
        yy: float,
        l1: float,
        l2: float,
        positive: bool,
        w: NDArray[np.float64],
        q: NDArray[np.float64],
    ) -> float: ...
    @staticmethod
    def descend(
        A: NDArray[np.float64],
        b: NDArray[np.float64],
        yy: float,
        l1: float,
        l2: float,
        positive: bool,
        tol: float,
        max_iter: int,
        w: NDArray[np.float64],
        q: NDArray[np.float64],
    ) -> tuple[float, int]: ...
    @staticmethod
    def descend_jointly(
        A: NDArray[np.float64],
        B: NDArray[np.float64],
        yy: float,
        l1: float,
        l2: float,
        tol: float,
        max_iter: int,
        W: NDArray[np.float64],
        Q: NDArray[np.float64],
    ) -> tuple[float, int]: ...

class _counts:
    @staticmethod
    def add_by_label(
        X: NDArray[np.float64],
        weight: NDArray[np.float64],
        labels: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def add_above_by_label(
        X: NDArray[np.float64],
        threshold: float,
        weight: NDArray[np.float64],
        labels: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> int: ...
    @staticmethod
    def add_squares_by_label(
        X: NDArray[np.float64],
        weight: NDArray[np.float64],
        labels: NDArray[np.int64],
        points: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def add_sparse_by_label(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        weight: NDArray[np.float64],
        labels: NDArray[np.int64],
        order: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def largest(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]: ...
    @staticmethod
    def add_categories_by_label(
        X: NDArray[np.float64],
        weight: NDArray[np.float64],
        labels: NDArray[np.int64],
        start: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def look_up(
        X: NDArray[np.float64], start: NDArray[np.int64], table: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...

class _distances:
    @staticmethod
    def weighted_sum(X: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @staticmethod
    def nearest(
        X: NDArray[np.float64], points: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    @staticmethod
    def nearest_of_many(
        X: NDArray[np.float64], points: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    @staticmethod
    def sums_by_label(
        X: NDArray[np.float64],
        weight: NDArray[np.float64],
        labels: NDArray[np.int64],
        points: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @staticmethod
    def nearest_sums(
        X: NDArray[np.float64], weight: NDArray[np.float64], points: NDArray[np.float64], rows: int
    ) -> tuple[NDArray[np.int64], float, NDArray[np.float64], NDArray[np.float64]]: ...
    @staticmethod
    def weighted_distances(
        X: NDArray[np.float64], points: NDArray[np.float64], scales: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...
    @staticmethod
    def squares_about(
        X: NDArray[np.float64], R: NDArray[np.float64], points: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...
    @staticmethod
    def mahalanobis(
        X: NDArray[np.float64], points: NDArray[np.float64], U: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...
    @staticmethod
    def scatters_about(
        X: NDArray[np.float64], R: NDArray[np.float64], points: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...
    @staticmethod
    def sparse_distances(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        points: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def sparse_sums_by_label(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        weight: NDArray[np.float64],
        labels: NDArray[np.int64],
        points: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

class _dual:
    @staticmethod
    def worst_pair(
        slope: NDArray[np.float64],
        beta: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        group: NDArray[np.int64],
        n_groups: int,
    ) -> tuple[int, int, float]: ...
    @staticmethod
    def minimize_pairs(
        K: NDArray[np.float64],
        slope: NDArray[np.float64],
        beta: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        group: NDArray[np.int64],
        n_groups: int,
        tol: float,
        most: int,
    ) -> int: ...
    @staticmethod
    def add_columns(
        columns: NDArray[np.float32] | NDArray[np.float64],
        slots: NDArray[np.int64],
        step: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None: ...

class _elementary:
    @staticmethod
    def exp(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @staticmethod
    def log(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @staticmethod
    def log1p(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @staticmethod
    def digamma(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
    @staticmethod
    def log_gamma(x: NDArray[np.float64]) -> NDArray[np.float64]: ...

class _factors:
    @staticmethod
    def coordinate_sweeps(
        F: NDArray[np.float64],
        gram: NDArray[np.float64],
        cross: NDArray[np.float64],
        order: NDArray[np.int64],
        weight: NDArray[np.float64],
        tol: float,
        max_iter: int,
    ) -> float: ...
    @staticmethod
    def divergence_updates(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        Ht: NDArray[np.float64],
        size: NDArray[np.float64],
        l1: float,
        l2: float,
        least: float,
        tol: float,
        max_iter: int,
        W: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def ratios(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        Ht: NDArray[np.float64],
        W: NDArray[np.float64],
        least: float,
        weight: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> float: ...

class _graph:
    @staticmethod
    def count(
        node: NDArray[np.int32] | NDArray[np.int64], first: int, shift: int, out: NDArray[np.int64]
    ) -> None: ...
    @staticmethod
    def spread(
        source: NDArray[np.int32] | NDArray[np.int64],
        target: NDArray[np.int32] | NDArray[np.int64],
        weight: NDArray[np.float64],
        first: int,
        shift: int,
        at: NDArray[np.int64],
        to_source: NDArray[np.int32] | NDArray[np.int64],
        to_target: NDArray[np.int32] | NDArray[np.int64],
        to_weight: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def place(
        source: NDArray[np.int32] | NDArray[np.int64],
        target: NDArray[np.int32] | NDArray[np.int64],
        weight: NDArray[np.float64],
        first: int,
        begin: int,
        offset: NDArray[np.int64],
        to_source: NDArray[np.int32] | NDArray[np.int64],
        to_weight: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def renumber(
        number: NDArray[np.int32] | NDArray[np.int64], node: NDArray[np.int32] | NDArray[np.int64]
    ) -> None: ...
    @staticmethod
    def mass(
        indptr: NDArray[np.int64],
        source: NDArray[np.int32] | NDArray[np.int64],
        sent: NDArray[np.float64],
        first: int,
        end: int,
        out: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def weighted_mass(
        indptr: NDArray[np.int64],
        source: NDArray[np.int32] | NDArray[np.int64],
        weight: NDArray[np.float64],
        sent: NDArray[np.float64],
        first: int,
        end: int,
        out: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def depths(
        order: NDArray[np.int32] | NDArray[np.int64],
        before: NDArray[np.int32] | NDArray[np.int64],
        length: NDArray[np.int64],
        out: NDArray[np.int64],
    ) -> None: ...

class _hidden_markov:
    @staticmethod
    def expect_diagonal(
        X: NDArray[np.float64],
        mean: NDArray[np.float64],
        half_precision: NDArray[np.float64],
        constant: NDArray[np.float64],
        start: NDArray[np.float64],
        transition: NDArray[np.float64],
        turned: NDArray[np.float64],
        offset: NDArray[np.int64],
        weight: NDArray[np.float64],
    ) -> (
        tuple[
            float,
            NDArray[np.float64],
            NDArray[np.float64],
            NDArray[np.float64],
            NDArray[np.float64],
            NDArray[np.float64],
        ]
        | None
    ): ...

class _labels:
    @staticmethod
    def observe(
        codes: NDArray[np.int64],
        offset: NDArray[np.int64],
        weight: NDArray[np.float64],
        U: NDArray[np.float64],
        moves: NDArray[np.float64],
        states: NDArray[np.float64],
        pairs: NDArray[np.float64],
    ) -> float: ...

class _linear_losses:
    @staticmethod
    def binomial(
        X: NDArray[np.float64],
        theta: NDArray[np.float64],
        codes: NDArray[np.int64],
        weight: NDArray[np.float64],
    ) -> tuple[float, NDArray[np.float64]]: ...
    @staticmethod
    def squared_hinge(
        X: NDArray[np.float64],
        theta: NDArray[np.float64],
        y: NDArray[np.float64],
        weight: NDArray[np.float64],
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]: ...
    @staticmethod
    def squared_insensitive(
        X: NDArray[np.float64],
        theta: NDArray[np.float64],
        y: NDArray[np.float64],
        weight: NDArray[np.float64],
        epsilon: float,
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]: ...

class _linkage:
    @staticmethod
    def ward_chain(
        X: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
    @staticmethod
    def centroid_merges(
        X: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
    @staticmethod
    def spanning_tree(
        X: NDArray[np.float64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
    @staticmethod
    def matrix_chain(
        D: NDArray[np.float64], weight: NDArray[np.float64], average: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...

class _log_linear:
    @staticmethod
    def errors(
        scores: NDArray[np.float64],
        intercept: NDArray[np.float64],
        codes: NDArray[np.int64],
        weight: NDArray[np.float64],
    ) -> float: ...
    @staticmethod
    def svrg_epoch(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        order: NDArray[np.int64],
        weight: NDArray[np.float64],
        before: NDArray[np.float64],
        start: NDArray[np.float64],
        drift: NDArray[np.float64],
        shrink: NDArray[np.float64],
        length: float,
        every: int,
        intercept: bool,
    ) -> NDArray[np.float64]: ...

class _losses:
    @staticmethod
    def squared_error(
        y: NDArray[np.float64], f: NDArray[np.float64], value: NDArray[np.float64], g: NDArray[np.float64]
    ) -> None: ...
    @staticmethod
    def log_loss(
        y: NDArray[np.int64],
        f: NDArray[np.float64],
        class_weight: NDArray[np.float64],
        value: NDArray[np.float64],
        g: NDArray[np.float64],
        h: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def add_stage(
        value: NDArray[np.float64],
        g: NDArray[np.float64],
        h: NDArray[np.float64],
        weight: NDArray[np.float64],
        group: NDArray[np.int64],
        loss_unit: float,
        most: float,
        weight_unit: float,
        curvature_unit: float,
        losses: NDArray[np.int64],
        weights: NDArray[np.int64],
        curvature: NDArray[np.int64],
        largest: NDArray[np.float64],
    ) -> None: ...

class _margin:
    @staticmethod
    def perceptron(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        offset: NDArray[np.int64],
        codes: NDArray[np.int64],
        weight: NDArray[np.float64],
        order: NDArray[np.int64],
        W: NDArray[np.float64],
        T: NDArray[np.float64],
        late_W: NDArray[np.float64],
        late_T: NDArray[np.float64],
        visits: int,
    ) -> tuple[int, int]: ...
    @staticmethod
    def frank_wolfe(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        offset: NDArray[np.int64],
        codes: NDArray[np.int64],
        cost: NDArray[np.float64],
        scale: NDArray[np.float64],
        order: NDArray[np.int64],
        W: NDArray[np.float64],
        T: NDArray[np.float64],
        share: NDArray[np.float64],
        moves: NDArray[np.float64],
        level: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def smo(
        gram: NDArray[np.float64],
        offset: NDArray[np.int64],
        codes: NDArray[np.int64],
        cost: NDArray[np.float64],
        scale: NDArray[np.float64],
        order: NDArray[np.int64],
        U: NDArray[np.float64],
        T: NDArray[np.float64],
        share: NDArray[np.float64],
        moves: NDArray[np.float64],
        tries: int,
    ) -> None: ...

class _medians:
    @staticmethod
    def median_errors(
        rank: NDArray[np.int64], weight: NDArray[np.int64], value: NDArray[np.int64]
    ) -> NDArray[np.int64]: ...

class _medoids:
    @staticmethod
    def assign(
        M: NDArray[np.float64],
        weight: NDArray[np.float64],
        near: NDArray[np.int64],
        first: NDArray[np.float64],
        second: NDArray[np.float64],
        removal: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def swap_block(
        D: NDArray[np.float64],
        start: int,
        since: int,
        weight: NDArray[np.float64],
        medoid: NDArray[np.int64],
        M: NDArray[np.float64],
        near: NDArray[np.int64],
        first: NDArray[np.float64],
        second: NDArray[np.float64],
        removal: NDArray[np.float64],
    ) -> int: ...

class _neighbors:
    @staticmethod
    def distances_of(
        X: NDArray[np.float64], queries: NDArray[np.float64], p: float
    ) -> NDArray[np.float64]: ...
    @staticmethod
    def nearest_of_all(
        X: NDArray[np.float64],
        first: int,
        weight: NDArray[np.float64],
        queries: NDArray[np.float64],
        p: float,
        best: NDArray[np.float64],
        rows: NDArray[np.int64],
        votes: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def nearest_of_products(
        products: NDArray[np.float64],
        half: NDArray[np.float64],
        X: NDArray[np.float64],
        first: int,
        weight: NDArray[np.float64],
        queries: NDArray[np.float64],
        norm: NDArray[np.float64],
        slack: NDArray[np.float64],
        best: NDArray[np.float64],
        rows: NDArray[np.int64],
        votes: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def build_tree(X: NDArray[np.float64], leaf_size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    @staticmethod
    def nearest_in_tree(
        points: NDArray[np.float64],
        order: NDArray[np.int64],
        axis: NDArray[np.int64],
        leaf_size: int,
        weight: NDArray[np.float64],
        queries: NDArray[np.float64],
        p: float,
        best: NDArray[np.float64],
        rows: NDArray[np.int64],
        votes: NDArray[np.float64],
        visited: NDArray[np.int64],
    ) -> int: ...

class _perceptron:
    @staticmethod
    def primal(
        X: NDArray[np.float64],
        codes: NDArray[np.int64],
        weight: NDArray[np.float64],
        order: NDArray[np.int64],
        rule: tuple[float, float, float, bool, bool],
        active: NDArray[np.bool],
        W: NDArray[np.float64],
        late: NDArray[np.float64],
        pocket: NDArray[np.float64],
        visits: NDArray[np.float64],
        steps: NDArray[np.float64],
        run: NDArray[np.float64],
        tried: NDArray[np.float64],
        best: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @staticmethod
    def sparse_primal(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        codes: NDArray[np.int64],
        weight: NDArray[np.float64],
        order: NDArray[np.int64],
        rule: tuple[float, float, float, bool, bool],
        active: NDArray[np.bool],
        W: NDArray[np.float64],
        late: NDArray[np.float64],
        pocket: NDArray[np.float64],
        visits: NDArray[np.float64],
        steps: NDArray[np.float64],
        run: NDArray[np.float64],
        tried: NDArray[np.float64],
        best: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @staticmethod
    def dual(
        gram: NDArray[np.float64],
        codes: NDArray[np.int64],
        weight: NDArray[np.float64],
        order: NDArray[np.int64],
        rule: tuple[float, float, float, bool, bool],
        active: NDArray[np.bool],
        W: NDArray[np.float64],
        late: NDArray[np.float64],
        pocket: NDArray[np.float64],
        F: NDArray[np.float64],
        visits: NDArray[np.float64],
        steps: NDArray[np.float64],
        run: NDArray[np.float64],
        tried: NDArray[np.float64],
        best: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

class _plsa:
    @staticmethod
    def fold_in(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        A: NDArray[np.float64],
        power: float,
        max_iter: int,
        tol: float,
        theta: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def expect(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        A: NDArray[np.float64],
        power: float,
        theta: NDArray[np.float64],
        weight: NDArray[np.float64],
        counts: NDArray[np.float64],
        log_sums: NDArray[np.float64],
    ) -> None: ...

class _sgd:
    @staticmethod
    def losses(
        loss: int,
        epsilon: float,
        Y: NDArray[np.float64],
        scores: NDArray[np.float64],
        weight: NDArray[np.float64],
        slope: NDArray[np.float64],
    ) -> float: ...
    @staticmethod
    def epoch(
        X: NDArray[np.float64] | NDArray[np.float32],
        y: NDArray[np.float64],
        weight: NDArray[np.float64],
        order: NDArray[np.int64],
        rule: tuple[int, float, float, float, float, int, float, float, float, float, float],
        w: NDArray[np.float64],
        total: NDArray[np.float64],
        paid: NDArray[np.float64],
        numbers: NDArray[np.float64],
    ) -> float: ...
    @staticmethod
    def sparse_epoch(
        data: NDArray[np.float64] | NDArray[np.float32],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        y: NDArray[np.float64],
        weight: NDArray[np.float64],
        order: NDArray[np.int64],
        rule: tuple[int, float, float, float, float, int, float, float, float, float, float],
        w: NDArray[np.float64],
        total: NDArray[np.float64],
        paid: NDArray[np.float64],
        numbers: NDArray[np.float64],
    ) -> float: ...

class _sparse:
    @staticmethod
    def times(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        W: NDArray[np.float64],
    ) -> NDArray[np.float64]: ...
    @staticmethod
    def add_transposed_times(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        G: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None: ...

class _splines:
    @staticmethod
    def design(
        X: NDArray[np.float64],
        knots: NDArray[np.float64],
        first: NDArray[np.int64],
        scale: NDArray[np.float64],
        pieces: NDArray[np.float64],
        place: NDArray[np.int64],
        columns: NDArray[np.int64],
        derivative: int,
        out: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def triangles(A: NDArray[np.float64]) -> None: ...
    @staticmethod
    def substitute(
        A: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...

class _strings:
    @staticmethod
    def subsequences(
        s: NDArray[np.int64],
        s_offset: NDArray[np.int64],
        t: NDArray[np.int64],
        t_offset: NDArray[np.int64],
        n_symbols: int,
        n: int,
        decay: float,
        same: bool,
    ) -> NDArray[np.float64]: ...
    @staticmethod
    def own_subsequences(
        s: NDArray[np.int64], offset: NDArray[np.int64], n_symbols: int, n: int, decay: float
    ) -> NDArray[np.float64]: ...

class _stumps:
    RUN: int
    @staticmethod
    def count_classes(
        codes: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32],
        group: NDArray[np.int64],
        entry: NDArray[np.int64],
        count: NDArray[np.int64],
    ) -> None: ...
    @staticmethod
    def count_runs(
        codes: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32],
        group: NDArray[np.int64],
        entry: NDArray[np.int64],
        count: NDArray[np.int64],
    ) -> None: ...
    @staticmethod
    def best_in_runs(
        codes: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32],
        group: NDArray[np.int64],
        entry: NDArray[np.int64],
        count: NDArray[np.int64],
        bound: NDArray[np.float64],
        lowest: float,
        total_0: int,
        total_1: int,
        least: int,
    ) -> tuple: ...
    @staticmethod
    def next_bin(
        codes: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32],
        entry: NDArray[np.int64],
        bin: int,
        n_bins: int,
    ) -> int: ...
    @staticmethod
    def best_stump(
        count: NDArray[np.int64],
        categorical: bool,
        cst: int,
        total: NDArray[np.int64],
        criterion: int,
        least: int,
    ) -> tuple: ...
    @staticmethod
    def bounds_of_runs(
        count: NDArray[np.int64], total_0: int, total_1: int, least: int, bound: NDArray[np.float64]
    ) -> float: ...
    @staticmethod
    def reweigh(
        answer: NDArray[np.int64],
        group: NDArray[np.int64],
        change: NDArray[np.float64],
        factor: NDArray[np.float64],
        weight: NDArray[np.float64],
        unit: float,
        new_factor: NDArray[np.float64],
        entry: NDArray[np.int64],
    ) -> None: ...

class _topics:
    @staticmethod
    def dirichlet_words(
        word: NDArray[np.float64],
        eta: NDArray[np.float64],
        of_total: NDArray[np.float64],
        out: NDArray[np.float64],
        top: NDArray[np.float64],
    ) -> NDArray[np.float64]: ...
    @staticmethod
    def infer(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        B: NDArray[np.float64],
        top: NDArray[np.float64],
        alpha: NDArray[np.float64],
        tol: float,
        max_iter: int,
        gamma: NDArray[np.float64],
        theta: NDArray[np.float64],
        ratio: NDArray[np.float64],
        log_theta: NDArray[np.float64],
    ) -> NDArray[np.float64]: ...
    @staticmethod
    def add_counts(
        ratio: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        theta: NDArray[np.float64],
        weight: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def sweep(
        words: NDArray[np.int64],
        start: NDArray[np.int64],
        doc: NDArray[np.int32],
        topic: NDArray[np.int16] | NDArray[np.int32],
        n_dk: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int32],
        counts: NDArray[np.int32],
        back: NDArray[np.int32],
        total: NDArray[np.int64],
        alpha: NDArray[np.float64],
        eta: NDArray[np.float64],
        state: int,
    ) -> None: ...
    @staticmethod
    def count_in_documents(
        doc: NDArray[np.int32],
        topic: NDArray[np.int16] | NDArray[np.int32],
        out: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int32],
    ) -> None: ...
    @staticmethod
    def count_topics(
        words: NDArray[np.int64],
        start: NDArray[np.int64],
        topic: NDArray[np.int16] | NDArray[np.int32],
        out: NDArray[np.int32],
        total: NDArray[np.int64],
    ) -> None: ...
    @staticmethod
    def log_joint_of_rows(
        counts: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int32], prior: NDArray[np.float64]
    ) -> float: ...
    @staticmethod
    def log_joint_of_words(counts: NDArray[np.int32], prior: NDArray[np.float64]) -> float: ...
    @staticmethod
    def rising(a: float, n: int) -> float: ...
    @staticmethod
    def left_to_right(
        words: NDArray[np.int64],
        begin: NDArray[np.int64],
        phi: NDArray[np.float64],
        alpha: NDArray[np.float64],
        particles: int,
        seeds: NDArray[np.uint64],
    ) -> NDArray[np.float64]: ...

class _trees:
    @staticmethod
    def find_split(
        folded: NDArray[np.int64],
        total: NDArray[np.int64],
        features: tuple[NDArray[np.int64], NDArray[np.bool], NDArray[np.int64], NDArray[np.float64]],
        criterion: int,
        limits: tuple[int, int, int, float, int, int, bool, int, NDArray[np.int8]],
        root: tuple[int, int, float, float],
    ) -> tuple: ...
    @staticmethod
    def grow(
        codes: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32],
        group: NDArray[np.int64],
        entry: NDArray[np.int64],
        features: tuple[NDArray[np.int64], NDArray[np.bool], NDArray[np.int64], NDArray[np.float64]],
        criterion: int,
        n_outputs: int,
        limits: tuple[int, int, int, float, int, int, bool, int, NDArray[np.int8]],
        root: tuple[int, int, float, float],
    ) -> tuple: ...
    @staticmethod
    def leaves_of_codes(
        codes: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32],
        n_bins: NDArray[np.int64],
        feature: NDArray[np.int64],
        children: NDArray[np.int64],
        edge: NDArray[np.int64],
        missing_left: NDArray[np.bool],
        set_start: NDArray[np.int64],
        goes_left: NDArray[np.bool],
        out: NDArray[np.int64],
    ) -> None: ...
    @staticmethod
    def add_histograms(
        codes: NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32],
        node: NDArray[np.int64],
        group: NDArray[np.int64],
        entry: NDArray[np.int64],
        classes: bool,
        offset: NDArray[np.int64],
        count: NDArray[np.int64],
        sums: NDArray[np.int64],
        low: NDArray[np.int64],
        high: NDArray[np.int64],
        rows: NDArray[np.int64],
    ) -> None: ...
    @staticmethod
    def preorder(children: NDArray[np.int64]) -> NDArray[np.int64]: ...
    @staticmethod
    def leaves_by_table(
        codes: NDArray[np.uint8],
        feature: NDArray[np.int64],
        following: NDArray[np.int32],
        depth: int,
        out: NDArray[np.int64],
    ) -> None: ...
    @staticmethod
    def leaves_of_rows(
        X: NDArray[np.float64],
        root: NDArray[np.int64],
        feature: NDArray[np.int64],
        children: NDArray[np.int64],
        threshold: NDArray[np.float64],
        missing_left: NDArray[np.bool],
        set_start: NDArray[np.int64],
        goes_left: NDArray[np.bool],
        out: NDArray[np.int64],
    ) -> None: ...
    @staticmethod
    def add_leaf_values(
        X: NDArray[np.float64],
        root: NDArray[np.int64],
        feature: NDArray[np.int64],
        children: NDArray[np.int64],
        threshold: NDArray[np.float64],
        missing_left: NDArray[np.bool],
        set_start: NDArray[np.int64],
        goes_left: NDArray[np.bool],
        value: NDArray[np.float64],
        output: NDArray[np.int64],
        out: NDArray[np.float64],
    ) -> None: ...

class _twofold:
    @staticmethod
    def add_normal_residual(
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        weight: NDArray[np.float64],
        theta: NDArray[np.float64],
        out: NDArray[np.float64],
        size: NDArray[np.float64],
    ) -> None: ...
    @staticmethod
    def add_sparse_normal_residual(
        data: NDArray[np.float64],
        indices: NDArray[np.int32] | NDArray[np.int64],
        indptr: NDArray[np.int32] | NDArray[np.int64],
        y: NDArray[np.float64],
        weight: NDArray[np.float64],
        theta: NDArray[np.float64],
        out: NDArray[np.float64],
        size: NDArray[np.float64],
    ) -> None: ...

class _vectors:
    @staticmethod
    def dot(
        a: NDArray[np.float64] | NDArray[np.float32], b: NDArray[np.float64] | NDArray[np.float32]
    ) -> float: ...
    @staticmethod
    def add_scaled(
        out: NDArray[np.float64], factor: float, a: NDArray[np.float64] | NDArray[np.float32]
    ) -> None: ...

class _Loops:
    boosting: type[_boosting]
    buckets: type[_buckets]
    chains: type[_chains]
    coordinates: type[_coordinates]
    counts: type[_counts]
    distances: type[_distances]
    dual: type[_dual]
    elementary: type[_elementary]
    factors: type[_factors]
    graph: type[_graph]
    hidden_markov: type[_hidden_markov]
    labels: type[_labels]
    linear_losses: type[_linear_losses]
    linkage: type[_linkage]
    log_linear: type[_log_linear]
    losses: type[_losses]
    margin: type[_margin]
    medians: type[_medians]
    medoids: type[_medoids]
    neighbors: type[_neighbors]
    perceptron: type[_perceptron]
    plsa: type[_plsa]
    sgd: type[_sgd]
    sparse: type[_sparse]
    splines: type[_splines]
    strings: type[_strings]
    stumps: type[_stumps]
    topics: type[_topics]
    trees: type[_trees]
    twofold: type[_twofold]
    vectors: type[_vectors]

loops: _Loops
