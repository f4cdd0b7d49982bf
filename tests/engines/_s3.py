"""An S3 server of moto on loopback, in a process of its own; and a proxy before it that cuts or slows."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

from pyarrow import fs


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def s3_server():
    """The port of a server with an empty bucket named "bucket"."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 60
        while not _answers(port):
            assert server.poll() is None and time.monotonic() < end
            time.sleep(0.05)
        filesystem(port).create_dir("bucket")
        yield port
    finally:
        server.terminate()
        server.wait()


def _answers(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def filesystem(port, **options):
    return fs.S3FileSystem(
        access_key="test",
        secret_key="test",
        region="us-east-1",
        scheme="http",
        endpoint_override=f"127.0.0.1:{port}",
        allow_bucket_creation=True,
        **options,
    )


def url(path, port):
    """The same as a URL, with its credentials."""
    where = f"scheme=http&endpoint_override=127.0.0.1%3A{port}&region=us-east-1"
    return f"s3://test:test@{path}?{where}"


class Proxy:
    """A TCP proxy. `cut(number)` says after how many bytes connection `number` is cut, or None."""

    def __init__(self, port, cut=lambda number: None, bytes_per_second=None):
        self.to, self.cut, self.rate, self.connections, self.cuts = port, cut, bytes_per_second, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.listener.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                number, self.connections = self.connections, self.connections + 1
                server = socket.create_connection(("127.0.0.1", self.to))
                for pair, limit in (((client, server), None), ((server, client), self.cut(number))):
                    threading.Thread(target=self._pass_on, args=(*pair, limit), daemon=True).start()

    def _pass_on(self, source, target, limit):
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if limit is not None:
                    data, limit = data[:limit], limit - len(data)
                target.sendall(data)
                if limit is not None and limit <= 0:
                    self.cuts += 1
                    break
                if self.rate is not None:
                    time.sleep(len(data) / self.rate)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
