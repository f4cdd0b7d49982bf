"""A fit in a process that is killed (SIGKILL) when its checkpoint has four members."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys

from suffice.core import loop
from suffice.core.storage import load_value


def killed_fit(model, X, y, path):
    """Fit with a checkpoint in a process that does not come to its end."""
    model = model.set_params(checkpoint=path)
    command = [sys.executable, __file__, path.with_suffix(".fit")]
    path.with_suffix(".fit").write_bytes(pickle.dumps((model, X, y)))
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert load_value(path).progress.n_iter == 4


def main(path):
    save = loop.save_value

    def save_and_die(value, path):
        save(value, path)
        if value.progress.n_iter == 4:
            os.kill(os.getpid(), signal.SIGKILL)

    loop.save_value = save_and_die
    with open(path, "rb") as file:
        model, X, y = pickle.load(file)
    model.fit(X, y)


if __name__ == "__main__":
    main(sys.argv[1])
