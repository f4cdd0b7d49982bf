"""The same bits from any thread, thread pool, event loop and forked process; BLAS is left as it was."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from suffice.core.blas import one_blas_thread
from suffice.decomposition import PCA
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.mixture import GaussianMixture

from ._blas import blas_libraries, limits, set_threads

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),  # of a process with several threads
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),  # few iterations
]
N, D = 4_000, 200  # BLAS takes several threads for products and factorisations of this size
ESTIMATORS = [
    LinearRegression(),
    PCA(5),
    LogisticRegression(solver="newton", max_iter=3, tol=0.5),
    GaussianMixture(2, max_iter=2, tol=100.0, random_state=0),
]


@pytest.fixture(autouse=True)
def two_blas_threads() -> Iterator[None]:
    """On one core, too: OpenBLAS starts as many threads as it is told."""
    libraries = blas_libraries()
    before = [lib.num_threads for lib in libraries]
    for lib in libraries:
        set_threads(lib, 2)
    yield
    assert [lib.num_threads for lib in libraries] == [2] * len(libraries)  # as it was found
    for lib, n in zip(libraries, before, strict=True):
        set_threads(lib, n)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    return X, (X @ rng.normal(size=D) > 0).astype(int)


def bits(estimator: Any, X: np.ndarray, y: np.ndarray) -> bytes:
    """Of what is learnt, and of what it says of some rows."""
    fitted = clone(estimator).fit(X, y)
    answer = (fitted.transform if hasattr(fitted, "transform") else fitted.predict)(X[:500])
    learnt = {name: value for name, value in sorted(vars(fitted).items()) if isinstance(value, np.ndarray)}
    return b"".join(map(np.ndarray.tobytes, [*learnt.values(), answer]))


def in_a_thread(call: Callable[[], bytes]) -> list[bytes]:
    answers: list[bytes] = []
    thread = threading.Thread(target=lambda: answers.append(call()))
    thread.start()
    thread.join()
    return answers


def in_a_pool(call: Callable[[], bytes]) -> list[bytes]:
    with ThreadPoolExecutor(4) as pool:
        return [future.result() for future in [pool.submit(call) for _ in range(8)]]


def in_joblib(call: Callable[[], bytes]) -> list[bytes]:
    return joblib.Parallel(2, backend="threading")(joblib.delayed(call)() for _ in range(4))


def in_asyncio(call: Callable[[], bytes]) -> list[bytes]:
    async def all_of_them() -> list[bytes]:
        return await asyncio.gather(*(asyncio.to_thread(call) for _ in range(4)))

    return asyncio.run(all_of_them())


def in_forks(call: Callable[[], bytes]) -> list[bytes]:
    """Processes that are forked while another thread fits."""
    done = threading.Event()

    def keep_fitting() -> None:
        while not done.is_set():
            call()

    busy = threading.Thread(target=keep_fitting)
    busy.start()
    try:
        return [_forked(lambda: call() if set(limits()) == {2} else b"BLAS is limited") for _ in range(4)]
    finally:
        done.set()
        busy.join()


def _forked(call: Callable[[], bytes]) -> bytes:
    receive, send = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if not child:
        try:
            send.send_bytes(call())
        finally:
            os._exit(0)
    try:
        return receive.recv_bytes() if receive.poll(120) else b"no answer"
    finally:
        os.waitpid(child, 0)


WAYS = [in_a_thread, in_a_pool, in_joblib, in_asyncio, in_forks]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize(
    "estimator",
    [ESTIMATORS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in ESTIMATORS[1:])],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_same_bits_from_any_thread(
    data: tuple[np.ndarray, np.ndarray], estimator: Any, way: Callable[[Any], list[bytes]]
) -> None:
    expected = bits(estimator, *data)
    answers = way(lambda: bits(estimator, *data))
    assert len(answers) > 0
    assert [answer == expected for answer in answers] == [True] * len(answers)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_the_same_bits_for_any_number_of_blas_threads(
    data: tuple[np.ndarray, np.ndarray], estimator: Any
) -> None:
    expected = bits(estimator, *data)
    for lib in blas_libraries():
        set_threads(lib, 1)
    try:
        assert bits(estimator, *data) == expected
    finally:
        for lib in blas_libraries():
            set_threads(lib, 2)


def test_the_last_thread_to_leave_restores_blas() -> None:
    """Two threads overlap: the first to come leaves before the second."""
    came, left = threading.Event(), threading.Event()
    seen: list[list[int]] = []

    def second() -> None:
        with one_blas_thread:
            came.set()
            left.wait(10)
            seen.append(limits())

    thread = threading.Thread(target=second)
    with one_blas_thread:
        thread.start()
        assert came.wait(10)
    seen.append(limits())
    left.set()
    thread.join()
    assert all(n == 1 for each in seen for n in each)
    assert all(n == 2 for n in limits())


def test_what_the_host_sets_meanwhile_stays() -> None:
    libraries = blas_libraries()
    with one_blas_thread:
        for lib in libraries:
            set_threads(lib, 3)
        with ThreadPoolExecutor(1) as pool:  # a thread that comes later computes on one thread all the same
            assert pool.submit(one_blas_thread(limits)).result() == [1] * len(libraries)
    assert limits() == [3] * len(libraries)
    for lib in libraries:
        set_threads(lib, 2)


def test_a_thread_that_forks_within_keeps_the_limit() -> None:
    def inside_and_after() -> bytes:
        inside = limits()
        one_blas_thread.__exit__()
        return bytes([*inside, *limits()])

    with one_blas_thread:
        seen = _forked(inside_and_after)
    n = len(limits())
    assert seen == bytes([1] * n + [2] * n)


def test_a_task_takes_the_limit_of_its_process() -> None:
    """What Ray sends by value refers to it by name."""
    assert pickle.loads(pickle.dumps(one_blas_thread)) is one_blas_thread


def test_a_blas_that_is_loaded_later_is_limited_too() -> None:
    """SciPy brings a BLAS of its own."""
    script = """
import sys
from suffice.core.blas import one_blas_thread
from threadpoolctl import threadpool_info
assert "scipy.linalg" not in sys.modules
with one_blas_thread:
    pass
import scipy.linalg
with one_blas_thread:
    inside = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
print(*inside)
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    answer = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert set(answer.stdout.split()) == {"1"}
