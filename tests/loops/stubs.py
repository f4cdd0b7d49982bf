"""Types of the compiled loops, from the signatures of their bindings, for type checkers and editors.

python -m tests.loops.stubs      # writes src/suffice/loops/native.pyi
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import suffice
from suffice.loops import native

STUB = Path(suffice.__file__).parent / "loops" / "native.pyi"
HEAD = '''\
"""Types of the compiled loops: `python -m tests.loops.stubs` writes this file."""

import numpy as np
from numpy.typing import NDArray

ALL: tuple[str, ...]
LEVELS: tuple[str, ...]
LEVEL: str
'''


def type_of(text: str) -> str:
    """An annotation of nanobind as one of NumPy."""
    return re.sub(r"(numpy\.)?ndarray\[dtype=(\w+)[^\]]*\]", r"NDArray[np.\2]", text)


def union(types: list[str]) -> str:
    return " | ".join(dict.fromkeys(types))


def signature(name: str, overloads: list[str]) -> str:
    """One signature for overloads, which differ by types of numbers alone."""
    each = [ast.parse(type_of(text) + ": ...").body[0] for text in overloads]
    functions = [f for f in each if isinstance(f, ast.FunctionDef)]
    arguments = [
        [ast.unparse(f.args.args[i].annotation or f) for f in functions]
        for i in range(len(functions[0].args.args))
    ]
    names = [a.arg for a in functions[0].args.args]
    given = ", ".join(f"{n}: {union(t)}" for n, t in zip(names, arguments, strict=True))
    returned = union([ast.unparse(f.returns) for f in functions if f.returns])
    return f"    @staticmethod\n    def {name}({given}) -> {returned}: ...\n"


def written() -> str:
    """The text of the stub."""
    topics = {name: value for name, value in sorted(vars(native.loops).items()) if inspect.ismodule(value)}
    parts = [HEAD]
    for topic, module in topics.items():
        parts.append(f"\nclass _{topic}:\n")
        for name, loop in vars(module).items():
            if type(loop).__name__ == "nb_func":
                parts.append(signature(name, [text for text, *_ in loop.__nb_signature__]))
            elif not name.startswith("__"):
                parts.append(f"    {name}: {type(loop).__name__}\n")
    parts.append("\nclass _Loops:\n")
    parts += [f"    {topic}: type[_{topic}]\n" for topic in topics]
    return "".join([*parts, "\nloops: _Loops\n"])


def parsed(text: str) -> Any:
    """To compare, whatever the lines."""
    return ast.dump(ast.parse(text))


if __name__ == "__main__":
    import subprocess

    STUB.write_text(written())
    subprocess.run(["ruff", "format", "-q", STUB], check=True)
