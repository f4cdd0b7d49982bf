"""Files of a scan: local paths, globs, URLs of object storage, and file systems of pyarrow or fsspec."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..core.extras import required

# The endings of the files that each function reads.
ENDINGS = {
    "scan_parquet": (".parquet",),
    "scan_csv": (".csv", ".csv.gz", ".tsv", ".tsv.gz"),
    "scan_json": (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz"),
}


SCHEMES = ("file", "s3", "gs", "abfs", "abfss", "hdfs")  # of URLs that pyarrow opens


def scan_of(path: str) -> str:
    """The name of the function that reads files with the ending of a path."""
    return next((scan for scan, endings in ENDINGS.items() if path.endswith(endings)), "scan_parquet")


class Files(NamedTuple):
    """Files in the order in which they are read."""

    paths: tuple[str, ...]
    base: str  # the common folder; partition columns are named in the paths below it
    filesystem: Any = None  # of pyarrow; None for files of this machine


def find_files(path: Any, scan: str, filesystem: Any = None) -> Files:
    """The files of a path, a glob, a folder, a URL, or a sequence of these, for one of the functions."""
    names = [str(path)] if isinstance(path, str | os.PathLike) else [str(part) for part in path]
    if not names:
        raise ValueError("There are no files: pass a path, a glob, a URL, or a sequence of these.")
    filesystem, names = _located(names, scan, filesystem)
    paths, bases = (_local if filesystem is None else _Remote(filesystem))(names, ENDINGS[scan])
    if not paths:
        raise _nothing_found(names, scan, filesystem is None)
    return Files(tuple(paths), os.path.commonpath(bases), filesystem)


def _nothing_found(names: list[str], scan: str, local: bool) -> FileNotFoundError:
    """The error for folders and globs without files with these endings. It names other files that are
    there."""
    endings = ENDINGS[scan]
    message = f"No file ending in {' or '.join(endings)} was found in {names}"
    others = sorted(p.name for name in names if local for p in Path(name).glob("*") if not _hidden(p.name))
    if not others:
        return FileNotFoundError(
            f"{message}: pass a folder, a file or a glob that has some, suffice.{scan}(path)."
        )
    other = next((other for other in map(scan_of, filter(_has_known_ending, others))), None)
    call = f"suffice.{other}({names[0]!r})" if other else f"suffice.{scan}('{names[0]}/{others[0]}')"
    return FileNotFoundError(f"{message}, which has {others[0]!r}: to read such files, call {call}.")


def _has_known_ending(name: str) -> bool:
    return name.endswith(sum(ENDINGS.values(), ()))


def _located(names: list[str], scan: str, filesystem: Any) -> tuple[Any, list[str]]:
    """The file system of these names, and the names as paths in it."""
    fs = required("pyarrow.fs", "parquet")
    if filesystem is not None:
        filesystem = _as_pyarrow(filesystem)
        names = [name.partition("://")[2] if "://" in name else name for name in names]
    else:
        schemes = {name.partition("://")[0] if "://" in name else "" for name in names}
        if len(schemes) > 1:
            raise ValueError(
                f"The paths {names} are on several file systems: read each by a scan of its own."
            )
        if schemes == {""}:
            return None, names
        parts = [_from_url(name, scan) for name in names]
        filesystem, names = parts[0][0], [path for _, path in parts]
        if any(other != filesystem for other, _ in parts):
            raise ValueError(f"The URLs {names} have several hosts: read each by a scan of its own.")
    local = isinstance(filesystem, fs.LocalFileSystem)
    return (None, names) if local else (filesystem, [name.rstrip("/") for name in names])


def _from_url(url: str, scan: str) -> tuple[Any, str]:
    fs = required("pyarrow.fs", "parquet")
    # The folder of a glob, up to the first wildcard, is a URL. Options come last, as in ?region=us-east-1.
    place, mark, options = url.rpartition("?")
    place, query = (place, mark + options) if "=" in options and "/" not in options and mark else (url, "")
    fixed, wild = _divided(place)
    try:
        filesystem, path = fs.FileSystem.from_uri(fixed + query)
    except required("pyarrow", "parquet").ArrowInvalid as error:
        scheme = url.partition("://")[0]
        if scheme in SCHEMES:
            remedy = "expected a URL, as 's3://bucket/folder'"
        elif scheme in ("http", "https"):
            remedy = f"download the file, and call suffice.{scan}(path)"
        else:
            remedy = (
                f"expected a path, or a URL of {', '.join(SCHEMES)}. For other storage, pass its file "
                f"system: suffice.{scan}({url!r}, filesystem=fsspec.filesystem({scheme!r}))"
            )
        raise ValueError(f"{url!r} cannot be opened ({error}): {remedy}.") from error
    except (OSError, ValueError, ImportError) as error:
        error.add_note(
            f"No file system was found for {url!r}. Pass it, e.g. {scan}('bucket/folder', "
            "filesystem=pyarrow.fs.S3FileSystem(...)), or a file system of fsspec."
        )
        raise
    return filesystem, f"{path.rstrip('/')}/{wild}" if wild else path


def _as_pyarrow(filesystem: Any) -> Any:
    fs = required("pyarrow.fs", "parquet")
    if isinstance(filesystem, fs.FileSystem):
        return filesystem
    kind: Any = getattr(sys.modules.get("fsspec"), "AbstractFileSystem", ())
    if isinstance(filesystem, kind):
        if "file" in (
            filesystem.protocol if isinstance(filesystem.protocol, tuple) else [filesystem.protocol]
        ):
            return fs.LocalFileSystem()
        return fs.PyFileSystem(fs.FSSpecHandler(filesystem))
    raise TypeError(
        f"filesystem must be a file system of pyarrow.fs or of fsspec; got {type(filesystem).__name__}: pass "
        "e.g. pyarrow.fs.S3FileSystem(region='...')."
    )


def _divided(name: str) -> tuple[str, str]:
    """Split a glob into the folder before the first wildcard and the rest, which is "" without a wildcard."""
    parts = name.split("/")
    first = next((n for n, part in enumerate(parts) if has_magic(part)), len(parts))
    return "/".join(parts[:first]), "/".join(parts[first:])


def _hidden(name: str) -> bool:
    """Whether readers skip files with this name, as Spark and Arrow do."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _local(names: list[str], endings: tuple[str, ...]) -> tuple[list[str], list[str]]:
    paths: list[Path] = []
    bases = []
    for name in names:
        is_glob = has_magic(name) and not os.path.exists(name)
        for part in sorted(glob(name, recursive=True)) if is_glob else [name]:
            path = Path(part)
            if not path.exists():
                place = "" if path.is_absolute() else f" in {os.getcwd()!r}"
                raise FileNotFoundError(
                    f"There is no file or folder {part!r}{place}: pass the path of one, or a glob, as "
                    f"suffice.{scan_of(part)}('folder/*{path.suffix or '.parquet'}')."
                )
            inside = sorted(path.rglob("*")) if path.is_dir() else []
            inside = [file for file in inside if file.name.endswith(endings)]
            paths += [file for file in inside if not any(map(_hidden, file.relative_to(path).parts))]
            paths += [] if path.is_dir() else [path]
        folder = _divided(name)[0] if is_glob else name if Path(name).is_dir() else str(Path(name).parent)
        bases.append(os.path.abspath(folder))
    must_be_plain(
        _markers({*map(os.path.abspath, names), *(str(f.absolute().parent) for f in paths), *bases})
    )
    return list(dict.fromkeys(map(str, paths))), bases  # ** finds folders and their files


def _markers(folders: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Folders with a marker of a table format, and the marker."""
    places = {parent for folder in map(Path, folders) for parent in (folder, *folder.parents)}
    return ((str(p), marker) for p in places for marker in FORMATS if any(p.glob(marker)))


class _Remote:
    def __init__(self, filesystem: Any) -> None:
        self.filesystem = filesystem

    def __call__(self, names: list[str], endings: tuple[str, ...]) -> tuple[list[str], list[str]]:
        paths, bases = [], []
        for name in names:
            folder, wild = _divided(name)
            if not wild and self._is_file(name):
                paths.append(name)
                bases.append(str(PurePosixPath(name.lstrip("/")).parent))
                continue
            name = name.lstrip("/")  # as some file systems list it, and others do not
            matches = _matcher(name) if wild else re.compile(re.escape(name) + "(/.*)")
            for path in self._files_in(folder):
                match = matches.fullmatch(path.lstrip("/"))
                rest = match and match[1]  # below a folder that matches; None for a file that does
                if match and (
                    rest is None
                    or (path.endswith(endings) and not any(map(_hidden, rest.strip("/").split("/"))))
                ):
                    paths.append(path)
            bases.append(folder.lstrip("/"))
        return paths, bases

    def _is_file(self, path: str) -> bool:
        return bool(self.filesystem.get_file_info(path).is_file)

    def _files_in(self, folder: str) -> list[str]:
        """All files below a folder, sorted by the parts of their paths, as local files are."""
        fs = required("pyarrow.fs", "parquet")
        forget(self.filesystem, folder)
        listed = self.filesystem.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
        paths = sorted((info.path for info in listed if info.is_file), key=lambda path: path.split("/"))
        above = list(map(str, PurePosixPath(folder).parents))[:-1]
        logs = [(place, marker) for place in above for marker in FORMATS if "*" not in marker]
        infos = self.filesystem.get_file_info([f"{place}/{marker}" for place, marker in logs])
        markers = [log for log, info in zip(logs, infos, strict=True) if info.type == fs.FileType.Directory]
        inside = [(path, marker) for path in map(PurePosixPath, paths) for marker in FORMATS]
        markers += [
            (str(path.parents[1]), marker)
            for path, marker in inside
            if path.match(marker if "*" in marker else f"{marker}/*")
        ]
        must_be_plain(markers)
        return paths


def forget(filesystem: Any, path: str) -> None:
    """Drop the listings that fsspec keeps, which would hide changes."""
    if (original := of_fsspec(filesystem)) is not None:
        original.invalidate_cache(path)


def of_fsspec(filesystem: Any) -> Any:
    """The file system of fsspec that pyarrow wraps, or None."""
    return getattr(getattr(filesystem, "handler", None), "fs", None)


def _matcher(pattern: str) -> re.Pattern[str]:
    """The regular expression of a glob; its group is what lies below a folder that matches."""
    translated = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^]]+\])", pattern)
    wild = [
        translated.get(p) or (p.replace("[!", "[^") if n % 2 else re.escape(p)) for n, p in enumerate(parts)
    ]
    return re.compile("".join(wild) + "(/.*)?")


# Formats whose logs say which files are part of the table: what marks their folder, and what reads them.
FORMATS = {
    "_delta_log": ("a Delta table", "fit(deltalake.DeltaTable({!r}))"),
    ".hoodie": ("a Hudi table", 'fit(spark.read.format("hudi").load({!r}))'),
    "metadata/*.metadata.json": (
        "an Iceberg table",
        'fit(catalog.load_table("...")) with a catalog of pyiceberg',
    ),
}


def must_be_plain(marked: Iterable[tuple[str, str]]) -> None:
    """Raise for files of a table format: some of them may have been deleted from the table."""
    for folder, marker in marked:
        name, call = FORMATS[marker]
        raise ValueError(
            f"{folder} is {name}: its files may hold rows that were deleted or replaced, and its log says "
            f"which are live. To read those, call {call.format(folder)}."
        )


def more_columns(path: str, more: Sequence[str], first: str, names: Sequence[str], function: str) -> str:
    """The error for columns that only a later file has."""
    return (
        f"{path} has the columns {list(more)}, which {first} does not have. To leave them out, call "
        f"{function}(..., columns={list(names)})."
    )


def partition_keys(files: Files) -> dict[str, Any]:
    """Return the values of Hive partition columns by file, as in ``year=2024/part-0.parquet``.

    They are read from the paths below the common folder. Columns are integers if all values are, otherwise
    strings, as Arrow infers them.
    """
    pa = required("pyarrow", "parquet")
    columns: dict[str, list[str | None]] = {}
    for n, file in enumerate(files.paths):
        path = os.path.abspath(file) if files.filesystem is None else file.lstrip("/")
        for segment in Path(path).relative_to(files.base).parent.parts:
            name, equals, value = map(unquote, segment.partition("="))
            if name and equals:
                values = columns.setdefault(name, [None] * len(files.paths))
                values[n] = None if value == "__HIVE_DEFAULT_PARTITION__" else value
    keys = {name: pa.array(values, pa.string()) for name, values in columns.items()}
    for name, values in keys.items():
        try:
            keys[name] = values.cast(pa.int32())
        except pa.ArrowInvalid:
            continue
    return keys
