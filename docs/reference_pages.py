"""The reference, from the public names of the modules: one page a module, which lists what it exports."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from pathlib import Path
from types import ModuleType

import suffice
from suffice.estimator import Estimator
from suffice.estimator.guarantees import EXACT, Guarantee
from suffice.estimator.parameters import StrOptions


def public_names() -> dict[str, list[str]]:
    """The names that each public module exports, modules left out.

    The parts of `core` have no `__all__`: what they define is what they offer to those who write methods.
    """
    found = {"suffice": [n for n in suffice.__all__ if not _is_module(f"suffice.{n}") and n[0] != "_"]}
    for package in sorted(p.name for p in pkgutil.iter_modules(suffice.__path__) if p.ispkg):
        module = import_module(f"suffice.{package}")
        if hasattr(module, "__all__"):
            found[module.__name__] = list(module.__all__)
    for part in pkgutil.iter_modules(import_module("suffice.core").__path__):
        module = import_module(f"suffice.core.{part.name}")
        names = [n for n, thing in vars(module).items() if _defined_in(module, n, thing)]
        found[module.__name__] = [n for n in names if n not in found["suffice"]]
    return found


def _is_module(name: str) -> bool:
    try:
        return bool(import_module(name))
    except ImportError:
        return False


def _defined_in(module: ModuleType, name: str, thing: object) -> bool:
    ours = inspect.isclass(thing) or inspect.isfunction(thing)
    return ours and name[0] != "_" and thing.__module__ == module.__name__  # type: ignore[attr-defined]


def home_of(module: str, name: str) -> str:
    """The public module that describes a name. Of a class that two offer, that which defines it; the parts of
    `core` describe what they define."""
    thing = getattr(import_module(module), name)
    if not inspect.isclass(thing):
        return module
    home = ".".join(thing.__module__.split(".")[:2])
    if home == "suffice.core" or not home.startswith("suffice."):
        return module
    return home if name in getattr(import_module(home), "__all__", ()) else module


def page(module: str, names: list[str]) -> str:
    """The page of a module."""
    elsewhere = {name: home_of(module, name) for name in names if home_of(module, name) != module}
    names = [name for name in names if name not in elsewhere]
    things = {name: getattr(import_module(module), name) for name in names}
    parts = {
        "Classes": [n for n in names if inspect.isclass(things[n])],
        "Functions": [n for n in names if inspect.isroutine(things[n])],
    }
    others = [n for n in names if n not in parts["Classes"] + parts["Functions"]]
    text = [module, "=" * len(module), "", f".. automodule:: {module}", "   :no-members:", ""]
    text += [f".. currentmodule:: {module}", ""]
    for title, of_kind in parts.items():
        if of_kind:
            text += [f".. rubric:: {title}", "", ".. autosummary::", "   :toctree: ..", ""]
            text += [*(f"   {name}" for name in sorted(of_kind)), ""]
    for name, home in elsewhere.items():
        text += [f"{name} : see :obj:`~{home}.{name}`.", ""]
    for name in others:
        text += [f".. data:: {name}", "", f"   {', '.join(things[name])}", ""]
    return "\n".join(text)


def guarantees() -> str:
    """The table of guarantees: a row for each estimator, and for the options with which it gives others."""
    text = ["| estimator | options | result | draws | rows of a scan or cluster |", "|---|---|---|---|---|"]
    public = {(module, name) for module, names in public_names().items() for name in names}
    for module, name in sorted(public, key=lambda pair: pair[1]):
        cls = getattr(import_module(module), name)
        if (
            module.startswith("suffice.estimator")
            or home_of(module, name) != module
            or not (inspect.isclass(cls) and issubclass(cls, Estimator))
        ):
            continue
        usual = cls()._guarantee()
        others: dict[Guarantee, list[str]] = {usual: []}
        for option, constraints in cls._parameter_constraints.items():
            values = {v for c in constraints if isinstance(c, StrOptions) for v in c.options}
            for value in sorted(values | ({"rbf"} if option == "kernel" else set())):  # any other name, too
                guarantee = cls(**{option: value})._guarantee()
                if guarantee != usual:
                    others.setdefault(guarantee, []).append(f'`{option}="{value}"`')
        for guarantee, options in others.items():
            text.append(
                f"| {{class}}`~{module}.{name}` | {', '.join(options)} | {guarantee.exact} "
                f"| {'seeded' if 'random_state' in cls().get_params() else ''} "
                f"| {'gathered' if guarantee.gathers else ''} |"
            )
    levels = [f"`{level}`\n: {meaning}\n" for level, meaning in EXACT.items()]
    return "\n".join([*levels, *text, ""])


def write(folder: Path) -> None:
    """The pages of the modules, in `folder / "modules"`; pages of what is no more are removed."""
    public = public_names()
    pages = {folder / "modules" / f"{module}.rst": page(module, names) for module, names in public.items()}
    kept = {folder / f"{module}.{name}.rst" for module, names in public.items() for name in names}
    kept -= {folder / f"{m}.{n}.rst" for m, names in public.items() for n in names if home_of(m, n) != m}
    for file in {*folder.rglob("*.rst")} - {*pages, *kept}:
        file.unlink()
    (folder / "modules").mkdir(parents=True, exist_ok=True)
    for file, text in pages.items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
