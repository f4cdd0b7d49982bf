"""Dask: blocks lie in the memory of its workers, tasks fold runs of them, and what is lost is computed again.

Without a `distributed.Client`, dask computes the blocks by its own scheduler, and the threads of this process
fold them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any
from uuid import uuid4

import dask
import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from dask.base import get_scheduler
from dask.delayed import Delayed, delayed
from dask.sizeof import sizeof
from distributed import Client, Future, KilledWorker, rpc, wait
from distributed.protocol import pickle
from distributed.scheduler import heartbeat_interval

from ..core.blas import one_blas_thread
from ..core.blocks import Rows, power_of_two
from ..core.partitions import Partitions, fold_blocks, in_block
from ..core.sound import must_be_sound, unmasked
from ..core.statistics import add, tree_sum
from ..core.tables import Columns, sequences_in, shares, whole
from ..core.values import Value
from .local import LocalPartitions
from .patience import blocks_of, in_order, seconds

# A task costs a millisecond, so it takes a run of blocks: more than one where they are small and many.
RUN: int | None = None  # blocks to a task, a power of two; None chooses. The bits are the same for any.
RUN_BYTES = 1 << 26
TASKS_A_THREAD = 4
# A call goes with each task if all together are no larger; if they are, it is a task of its own, and moves
# from worker to worker.
CALL_BYTES = 1 << 20
# Sums up to this size, all together, come home to be added; larger ones are added where they are.
HOME_BYTES = 1 << 28

LOOK = (
    "Look at the dashboard and the logs of the workers: there may be none, or one that is stopped, full or "
    "cannot be reached."
)
CANCELLED = "The cluster was restarted, or its client closed, while the data lay there: fit again."


@dataclass(frozen=True)
class DaskPartitions(Partitions):
    """Runs of blocks in the memory of workers.

    A run is an aligned power of two of blocks, and so a subtree of the sum. It is one result: its blocks
    lie on one worker, and the task that folds them is sent there.
    """

    client: Client
    runs: tuple[Future, ...]  # of tuples of blocks
    length: int = 1  # blocks in a run

    def map(self, f: Callable[..., Any], *shared: Any) -> DaskPartitions:
        call = _sent(self.client, len(self.runs), f, shared)
        runs = self.client.map(_map, [call] * len(self.runs), self.runs, pure=False)
        return DaskPartitions(self.client, tuple(runs), self.length)

    def fold(self, f: Callable[..., Any], *shared: Any) -> Any:
        client = self.client
        call = _sent(client, len(self.runs), f, shared)
        tasks = client.map(_fold, [call] * len(self.runs), self.runs, pure=False)
        with _in_words():
            sums = _ended(client, tasks, self.length, lambda n: (_fold, call, self.runs[n]))
            del tasks
            first = next(sums)
            size = client.nbytes([first.key], summary=False)[first.key]
            terms = chain([first], sums)
            del first  # what is let go of is freed when added
            if len(self.runs) * size > HOME_BYTES:
                total = tree_sum(terms, add=partial(client.submit, add, pure=False))
                [total] = _home(client, list(_ended(client, [total], self.length * len(self.runs))))
            else:
                total = tree_sum(_home(client, list(terms)))
        # A worker of this process hands out what it holds.
        return deepcopy(total)


def _sent(client: Client, n: int, f: Callable[..., Any], shared: tuple[Any, ...]) -> bytes | Future:
    """A call for n tasks, pickled once. A large one is sent as a task and not as data, so that it can be made
    again when its worker is lost; by a name of its own, since one that was used before may be going."""
    call = pickle.dumps((f, shared))
    if n * len(call) <= CALL_BYTES:
        return call
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
        return client.submit(pickle.loads, call, key=f"suffice-call-{uuid4().hex}")


def _map(call: Any, blocks: tuple[Any, ...]) -> tuple[Any, ...]:
    f, shared = pickle.loads(call) if isinstance(call, bytes) else call
    with one_blas_thread:
        return tuple(f(*shared, block) for block in blocks)


def _fold(call: Any, blocks: tuple[Any, ...]) -> Any:
    f, shared = pickle.loads(call) if isinstance(call, bytes) else call
    with one_blas_thread:
        return fold_blocks(f, shared, blocks)


def _run(*blocks: Any) -> tuple[Any, ...]:
    return blocks


@sizeof.register(Value)
def _size(value: Value) -> int:
    """By which dask knows what a worker holds, and what it costs to move."""
    return sum(sizeof(part) for part in value.fields().values())


def _ended(
    client: Client, tasks: Sequence[Future], length: int, call: Callable[[int], tuple[Any, ...]] | None = None
) -> Iterator[Future]:
    """The tasks in their order, each when it has ended well; `call` is what to submit to run one again."""
    sent = {n: [task] for n, task in enumerate(tasks)}
    total = len(tasks)
    del tasks

    def ended(left: list[int], seconds: float) -> list[int]:
        futures = [future for n in left for future in sent[n]]
        if seconds and not any(future.done() for future in futures):
            with _timeout_is_no_error():
                wait(futures, timeout=seconds, return_when="FIRST_COMPLETED")
        return [n for n in left if any(future.done() for future in sent[n])]

    def again(left: list[int]) -> None:
        _leave_silent_workers(client)
        if call is None:
            return
        processing = client.processing()
        for n in left:
            stuck = [worker for worker, keys in processing.items() if sent[n][-1].key in keys]
            if stuck:
                others = [worker for worker in processing if worker not in stuck]
                how: Any = {"workers": others, "allow_other_workers": True} if others else {}
                sent[n].append(client.submit(*call(n), pure=False, **how))

    for n in in_order(total, ended, again, lambda left: blocks_of(left, length), LOOK):
        while not (finished := [future for future in sent[n] if future.done()]):
            # Its worker was lost since it ended, and the scheduler runs it again.
            with _timeout_is_no_error():
                wait(sent[n], timeout=1.0, return_when="FIRST_COMPLETED")
        done = finished[0]
        if done.status != "finished":
            # The client knows the error, and by its traceback would hold what is in use here.
            error, where = (done.exception(), done.traceback()) if done.status == "error" else (None, None)
            for future in (future for futures in sent.values() for future in futures):
                future.release()
            raise error.with_traceback(where) if error else CancelledError(CANCELLED)
        del sent[n]
        yield done


def _home(client: Client, futures: list[Future]) -> list[Any]:
    """The results of tasks that have ended; from where they are, which may stop to answer."""
    found: list[list[Any]] = []

    async def gathered() -> list[Any]:
        return await client.gather(futures, asynchronous=True)

    def ended(left: list[int], seconds: float) -> list[int]:
        if seconds:
            with _timeout_is_no_error():
                found.append(client.sync(gathered, callback_timeout=seconds))
        return left if found else []

    def again(left: list[int]) -> None:
        _leave_silent_workers(client)

    next(in_order(1, ended, again, lambda left: f"{len(futures)} results", LOOK))
    return found[0]


@contextmanager
def _timeout_is_no_error() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        if getattr(error, "__notes__", None):  # of a task: see `in_block`
            raise


def _leave_silent_workers(client: Client) -> None:
    """What workers hold that are no longer heard of is computed by others. Dask itself waits for five
    minutes, by `distributed.scheduler.worker-ttl`."""
    client.run_on_scheduler(_replace_silent, seconds() / 2)


async def _replace_silent(seconds: float, dask_scheduler: Any) -> None:
    """Their nannies start others. They are told first: a slow worker that is told to close, or finds that the
    scheduler has forgotten it, closes its nanny too."""
    workers = dask_scheduler.workers
    limit = time.time() - max(seconds, 5 * heartbeat_interval(len(workers)))
    why = f"suffice-{time.time()}"

    async def replace(address: str, worker: Any) -> None:
        if worker.nanny:
            with suppress(OSError, TimeoutError):  # its machine is gone as well
                async with rpc(worker.nanny, connection_args=dask_scheduler.connection_args) as there:
                    await asyncio.wait_for(there.kill(timeout=1, reason=why), 10)
        if workers.get(address) is worker:
            await dask_scheduler.remove_worker(address, expected=True, stimulus_id=why)

    silent = [(address, worker) for address, worker in workers.items() if worker.last_seen < limit]
    await asyncio.gather(*(replace(*one) for one in silent))  # all at once: a machine may have had many


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except KilledWorker as error:
        error.add_note(
            "Each worker that took these blocks died, most often because its memory was full: make "
            "partitions smaller (`repartition`, `rechunk`) or workers larger. On machines that are taken "
            "away at times, raise distributed.scheduler.allowed-failures of the cluster."
        )
        raise


def column_names(source: Any) -> list[str] | int:
    """The names of the columns; of arrays, which have none, how many there are."""
    if _is_array(source):
        if source.ndim != 2:
            raise ValueError(f"Expected 2D array, got a dask array of shape {source.shape} instead.")
        return int(source.shape[1])
    if isinstance(source, list | Delayed):
        with _in_words():
            [names] = _computed(_client(), [_task(_names)(_list(source)[0])])
    else:
        names = list(source.columns)
    if not isinstance(names, int) and any(not isinstance(name, str) for name in names):
        raise TypeError(f"The columns must be named by strings, and they are {names}: rename them first.")
    return names


def _names(part: Any) -> list[str] | int:
    if isinstance(part, pa.Table | pa.RecordBatch):
        return list(part.schema.names)
    return list(part.columns) if hasattr(part, "columns") else int(part.shape[1])


def open_partitions(source: Any, columns: Columns, check: Callable[[Rows], Rows]) -> Partitions:
    """The partitions of a table, or the tables of a list, converted once by tasks."""
    names = list(dict.fromkeys(columns.names()))
    if isinstance(source, list | Delayed):
        parts = _list(source)
        empty = _task(_empty, names)(parts[0])
    else:
        parts = source[names].to_delayed()
        empty = _empty(names, source._meta)
    if columns.sequence is None:
        return _opened([_task(_rows, columns, check, n)(part, empty) for n, part in enumerate(parts)])
    return _whole(columns, check, [_task(_table, names, n)(part, empty) for n, part in enumerate(parts)])


def open_arrays(X: Any, y: Any, sample_weight: Any, groups: Any, check: Callable[[Rows], Rows]) -> Partitions:
    """The chunks of rows of an array, or the arrays of a list; with `groups`, rows are steps of sequences."""
    if _is_array(X):
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        parts = X.to_delayed().ravel().tolist()
    else:
        parts = _list(X)
    given = {"y": y, "sample_weight": sample_weight, "groups": groups}
    given = {name: _beside(X, part, name) for name, part in given.items() if part is not None}
    beside = list(zip(*given.values(), strict=True)) or [()] * len(parts)
    if groups is None:
        read = enumerate(zip(parts, beside, strict=True))
        return _opened([_task(_rows_of_arrays, check, n, tuple(given))(part, *b) for n, (part, b) in read])
    width = column_names(X)
    assert isinstance(width, int)
    columns = Columns(
        tuple(f"x{j}" for j in range(width)),
        None if y is None else "y",
        None if sample_weight is None else "sample_weight",
        "groups",
    )
    read = enumerate(zip(parts, beside, strict=True))
    tables = [_task(_table_of_arrays, check, n, columns, tuple(given))(part, *b) for n, (part, b) in read]
    return _whole(columns, check, tables)


def _opened(blocks: list[Delayed]) -> Partitions:
    """Partitions of blocks that are computed once: by the cluster if there is one, else here."""
    client = _client()
    if client is None:
        return LocalPartitions(dask.compute(*blocks))
    with _in_words():
        opened = list(_ended(client, _submitted(client, blocks), 1))
    n = RUN or _run_length(client, opened)
    runs = [client.submit(_run, *opened[i : i + n], pure=False) for i in range(0, len(opened), n)]
    return DaskPartitions(client, tuple(runs), n)


def _run_length(client: Client, blocks: list[Future]) -> int:
    threads = max(1, sum(client.nthreads().values()))
    size = sum(client.nbytes([block.key for block in blocks], summary=False).values())
    return power_of_two(
        min(len(blocks) / (TASKS_A_THREAD * threads), RUN_BYTES * len(blocks) / max(1, size)), 1
    )


def _whole(columns: Columns, check: Any, tables: list[Delayed]) -> Partitions:
    """Partitions of whole sequences, from Arrow tables that may cut them."""
    whole = _whole_tables(columns, tables)
    return _opened([_task(_sequences, columns, check, n, past)(*parts) for n, (past, parts) in whole])


def _whole_tables(columns: Columns, tables: list[Delayed]) -> Iterator[tuple[int, tuple[int, list[Any]]]]:
    """By number: how many rows of a table are of an earlier one; and it, with the heads that belong to it."""
    assert columns.sequence is not None
    client = _client()
    tables = dask.persist(*tables)
    found = _computed(client, [_task(_sequences_in, columns.sequence, n)(t) for n, t in enumerate(tables)])

    def head(number: int, size: int | None) -> Any:
        return tables[number] if size is None else _task(_head, size)(tables[number])

    for n, (past, heads) in enumerate(shares(found)):
        yield n, (past, [tables[n], *(head(*part) for part in heads)])


def answer(source: Any, asked: Any) -> Any:
    """The rows with their answers: a DataFrame of a DataFrame, a list of Delayed tables of such a list.

    It is lazy, but for sequences, which are first made whole.
    """
    listed = isinstance(source, list | Delayed)
    if asked.columns.sequence is not None:
        return _answer_sequences(source, asked, listed)
    if listed:
        return [_task(_answered, asked)(part) for part in _list(source)]
    return source.map_partitions(partial(_answered, asked), meta=_answered(asked, source._meta))


def _answered(asked: Any, part: Any) -> Any:
    with one_blas_thread:
        if isinstance(part, pa.Table | pa.RecordBatch):
            return asked.beside(_arrow(list(part.schema.names), part))
        return part.assign(**asked.named(_arrow(asked.columns.names(), part)))


def _answer_sequences(source: Any, asked: Any, listed: bool) -> Any:
    """Sequences are answered for as Arrow tables; their index, if they had one, is lost."""
    import dask.dataframe as dd

    names = column_names(source)
    assert not isinstance(names, int)
    parts = _list(source) if listed else source.to_delayed()
    empty = _task(_empty, names)(parts[0]) if listed else _empty(names, source._meta)
    columns = asked.columns.with_all(names)
    whole = _whole_tables(columns, [_task(_table, names, n)(part, empty) for n, part in enumerate(parts)])
    answers = [_task(_answered_whole, asked, columns, n, past, names)(*parts) for n, (past, parts) in whole]
    if listed:
        return answers
    meta = asked.beside(empty).to_pandas()
    return dd.from_delayed([_task(pa.Table.to_pandas)(a) for a in answers], meta=meta, verify_meta=False)


def _answered_whole(
    asked: Any, columns: Columns, number: int, past: int, names: list[str], *tables: pa.Table
) -> pa.Table:
    with in_block(number, "answering for it"), one_blas_thread:
        return asked.beside(whole(columns, tables[0], past, tables[1:]).select(names))


def answer_arrays(X: Any, asked: Any) -> Any:
    """The answers for the rows of an array, as a dask array; for a list of arrays, as a list."""
    if not _is_array(X):
        return [_task(_answered_array, asked, None)(part) for part in _list(X)]
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    like = asked(np.ones((1, X.shape[1])))[:0]  # an answer tells its kind and width
    shape: Any = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (X.chunks[0], (like.shape[1],))}
    return X.map_blocks(partial(_answered_array, asked, like), dtype=like.dtype, meta=like, **shape)


def _answered_array(asked: Any, like: Any, part: Any) -> Any:
    if like is not None and not len(part):
        return like
    with one_blas_thread:
        return asked(part)


def _computed(client: Client | None, tasks: list[Delayed]) -> Sequence[Any]:
    if client is None:
        return dask.compute(*tasks)
    with _in_words():
        return _home(client, list(_ended(client, _submitted(client, tasks), 1)))


def _submitted(client: Client, tasks: list[Delayed]) -> list[Future]:
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
        return client.compute(tasks)


def _client() -> Client | None:
    """The cluster that dask would compute on now, if it would on one."""
    client = getattr(get_scheduler(), "__self__", None)
    if not isinstance(client, Client):
        return None
    if client.asynchronous:
        raise TypeError("A fit waits for its sums, and the current Client is asynchronous: use Client(...).")
    return client


def _is_array(source: Any) -> bool:
    return not isinstance(source, list | Delayed) and hasattr(source, "chunks")


def _list(source: Any) -> list[Delayed]:
    return [source] if isinstance(source, Delayed) else list(source)


def _task(f: Callable[..., Any], *given: Any) -> Any:
    return delayed(partial(f, *given), pure=False, traverse=False)


def _beside(X: Any, part: Any, name: str) -> list[Any]:
    """What belongs to the rows of X, cut as X is."""
    if not _is_array(X):
        parts, n = _list(part), len(_list(X))
        if len(parts) != n:
            raise ValueError(f"X is a list of {n} blocks, but {name} has {len(parts)}: one a block.")
        return parts
    rows = X.chunks[0]
    if hasattr(part, "to_dask_array"):
        part = part.to_dask_array()
    if not _is_array(part):
        import dask.array as da

        if np.isnan(X.shape[0]):
            raise ValueError(
                f"{name} is in memory, and the chunks of X have unknown lengths: call "
                f"X.compute_chunk_sizes() first, or pass {name} as a dask array with the chunks of X."
            )
        part = da.from_array(np.asarray(unmasked(part, name)), -1)
    part = part.rechunk(dict.fromkeys(range(1, part.ndim), -1))
    if not np.isnan(X.shape[0]) and not np.isnan(part.shape[0]):
        if part.shape[0] != X.shape[0]:
            raise ValueError(f"{name} has {part.shape[0]} rows, but X has {X.shape[0]}.")
        part = part.rechunk({0: rows})
    if part.numblocks[0] != len(rows):
        raise ValueError(f"{name} has {part.numblocks[0]} chunks, but X has {len(rows)} chunks of rows.")
    return part.to_delayed().ravel().tolist()


def _arrow(names: list[str], part: Any) -> pa.Table:
    """A pandas or Arrow table as an Arrow table; of what holds no value at all, pandas tells no type."""
    if isinstance(part, pa.RecordBatch):
        part = pa.Table.from_batches([part])
    if not isinstance(part, pa.Table):
        part = pa.Table.from_pandas(part[names], preserve_index=False)
    part = part.select(names).replace_schema_metadata()
    known = [f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in part.schema]
    return part.cast(pa.schema(known))


def _empty(names: list[str], part: Any) -> pa.Table:
    return _arrow(names, part).schema.empty_table()


def _table(names: list[str], number: int, part: Any, empty: pa.Table) -> pa.Table:
    with in_block(number, "reading it"):
        return _arrow(names, part) if len(part) else empty


def _rows(columns: Columns, check: Any, number: int, part: Any, empty: pa.Table) -> Any:
    table = _table(empty.column_names, number, part, empty)
    with in_block(number, "reading it"):
        return columns.block(check, number, table)


def _sequences_in(column: str, number: int, table: pa.Table) -> Any:
    [found] = sequences_in(column, number, [table])
    return found


def _head(n: int, table: pa.Table) -> pa.Table:
    return table.slice(0, n)


def _sequences(columns: Columns, check: Any, number: int, past: int, *tables: pa.Table) -> Any:
    with in_block(number, "reading it"):
        return columns.block(check, number, whole(columns, tables[0], past, tables[1:]))


def _rows_of_arrays(check: Any, number: int, names: tuple[str, ...], X: Any, *beside: Any) -> Any:
    with in_block(number, "reading it"):
        X, given = _arrays(check, X, names, beside)
        weight = given.get("sample_weight")
        return check(
            Rows(X, given.get("y"), None if weight is None else weight.astype(np.float64), (number,))
        )


def _table_of_arrays(
    check: Any, number: int, columns: Columns, names: tuple[str, ...], X: Any, *beside: Any
) -> pa.Table:
    with in_block(number, "reading it"):
        X, given = _arrays(check, X, names, beside)
        return pa.table(dict(zip(columns.features, X.T, strict=True)) | given)


def _arrays(
    check: Any, X: Any, names: tuple[str, ...], beside: tuple[Any, ...]
) -> tuple[Any, dict[str, np.ndarray]]:
    """The arrays of a block, which have the same rows."""
    if sp.issparse(X):
        if not check.sparse or "groups" in names:
            raise TypeError(f"{check.name} does not take blocks of sparse rows: make them dense first.")
        must_be_sound(X)
        X = sp.csr_array(X)
    else:
        X = np.asarray(unmasked(X, "X", check.nan))
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a block of shape {X.shape} instead.")
    if X.dtype.kind not in "biuf":
        X = X.astype(object if check.strings else np.float64)
    given = {name: np.asarray(unmasked(part, name)) for name, part in zip(names, beside, strict=True)}
    for name, part in given.items():
        if part.ndim == 2 and part.shape[1] == 1 and (name != "y" or check.target != "number"):
            given[name] = part = part[:, 0]
        if len(part) != X.shape[0] or (part.ndim != 1 and name != "y"):
            raise ValueError(f"{name} has the shape {part.shape}, but X has {X.shape[0]} rows: one a row.")
    return X, given
