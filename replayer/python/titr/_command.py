"""Runs the commands, and raises what they say is wrong."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Union

Path = Union[str, "os.PathLike[str]"]

#: The package on the index: another has the name titr.
PACKAGE = "titr-replay"

try:
    __version__ = importlib.metadata.version(PACKAGE)
    _installed = importlib.metadata.files(PACKAGE) or []
except importlib.metadata.PackageNotFoundError:
    __version__, _installed = "unknown", []

#: Where a message has its place: `╭─[FILE:LINE:COLUMN]`, `FILE:LINE: ...`, `FILE:LINE:COLUMN: ...` or `FILE: torn after line LINE: ...`.
_PLACE = re.compile(r"╭─\[(.+?):(\d+):\d+\]|\A(.+?):(\d+)(?::\d+)?: |\A(.+?): torn after line (\d+): ")


class Error(Exception):
    """An error of titr. Its text is the message of the command.

    `file` is the path of the file at fault, and `line` the line in it, from 1; each is None if it is not known.
    """

    __module__ = "titr"
    file: pathlib.Path | None = None
    line: int | None = None


class _MissingFile(Error, FileNotFoundError):
    """An error of titr: a file is missing."""

    __module__, __qualname__ = "titr", "Error"


class _WrongArgument(Error, TypeError):
    """An error of titr: an argument or its value is none that it knows."""

    __module__, __qualname__ = "titr", "Error"


# Callers see one exception, whatever else it is.
_MissingFile.__name__ = _WrongArgument.__name__ = Error.__name__

#: Words of the command, and what they are in Python.
_IN_PYTHON = [
    ("--analyse ANALYSIS", "analyses=[...]"),
    ("'--analyse [^']*'", "'analyses'"),
    (r"--(analy\w+)", r"\1"),
    ("--partial", "partial=True"),
    (r"unexpected argument '--([\w-]+)'", r"unexpected argument '\1'"),
    (r"\n+  tip: to pass '[^']+' as a value, use '[^']+'", ""),
]


def run(words: Sequence[Path], text: str | None = None, folder: str = "") -> str:
    """What a command prints. `text` is its standard input; files in `folder` are ours, and messages do not name it."""
    with started(words, text, folder) as process:
        printed, _ = process.communicate(text)
    return printed


@contextlib.contextmanager
def started(words: Sequence[Path], text: str | None = None, folder: str = "") -> Iterator[subprocess.Popen[str]]:
    """A command that runs while the block does. An exception in the block ends it, and its own error is raised after the block."""
    line = [_command(), *map(os.fsdecode, words)]
    source = subprocess.DEVNULL if text is None else subprocess.PIPE
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape") as said:
        with subprocess.Popen(line, stdin=source, stdout=subprocess.PIPE, stderr=said, encoding="utf-8") as process:
            try:
                yield process
            except BaseException:
                # It removes what it has not finished.
                process.terminate()
                process.wait()
                raise
        if process.returncode != 0:
            said.seek(0)
            message = said.read()
            raise _error(line, process.returncode, message.replace(os.path.join(folder, ""), "") if folder else message)


def _command() -> str:
    """The path of titr: that of this package, or else of $TITR or PATH."""
    paths = (str(file.locate()) for file in _installed if file.name == "titr" and file.parent.name == "bin")
    for path in [*paths, os.environ.get("TITR"), shutil.which("titr")]:
        if path and os.path.isfile(path):
            return path
    raise Error(f"there is no command titr: install {PACKAGE} for this system, or name the command in the variable TITR")


def _error(line: list[str], status: int, said: str) -> Error:
    """The exception for what a command has said on standard error."""
    message = re.split(r"^(?:titr: (?!note: )|error: )", said, maxsplit=1, flags=re.MULTILINE)[-1]
    message = re.split(r"\n\n(?:Usage:|For more information)", message)[0].rstrip()
    for ours, in_python in _IN_PYTHON:
        message = re.sub(ours, in_python, message)
    kind = _MissingFile if "No such file or directory" in message else _WrongArgument if status == 2 else Error
    error = kind(message or f"titr ended with status {status}")
    place = _PLACE.search(message)
    file, number = [part for part in place.groups() if part] if place else (None, None)
    if file is None or (": " in file and not os.path.exists(file)):
        # Without a line, the beginning of a message is a file if there is one, or if one was to be there.
        begin = re.match(r"(?:cannot read [a-z ]+ )?(.+?): ", message)
        file, number = begin and begin[1], None
        if file not in line and not (file and os.path.exists(file)):
            file = None
    if file and not file.startswith("--"):
        error.file = pathlib.Path("platform" if file == "-" else file)
        error.line = None if number is None else int(number)
    return error
