"""Arguments of functions as words of a command line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Union

from ._command import Path, run
from ._trace import Trace

Document = Union[Path, Mapping[str, Any]]
TracePath = Union[Path, Sequence[Path], Trace]
Set = Union[Mapping[str, Any], Sequence[str]]
Names = Union[str, Iterable[str]]

#: Options that print or write the result, which Python has.
_OF_OUTPUT = ["json", "csv", "format", "quiet", "time", "report", "compare"]


class Replay:
    """What a replay is called with."""

    def __init__(
        self, platform: Document, trace: TracePath, set: Set | None, what_if: Document | None, options: Mapping[str, Any]
    ) -> None:
        path, self.platform = path_or_text(platform)
        self.words: list[Path] = ["--quiet", "--platform", "-" if path is None else path]
        path, self.what_if = (None, None) if what_if is None else path_or_text(what_if)
        self.words += [] if path is None else ["--what-if", path]
        if isinstance(set, Mapping):
            set = [f"{key}={written(value)}" for key, value in set.items()]
        for setting in [set] if isinstance(set, str) else set or []:
            self.words += ["--set", setting]
        for key, value in options.items():
            if key in _OF_OUTPUT:
                raise TypeError(f"'{key}' is an option of the command only: the result has methods for its forms")
            self.words += option(key.replace("_", "-"), value)
        self.words += ["--", *places(trace)]

    def run(self, command: str, folder: str, *more: Path) -> str:
        """What a command prints with more words before the others. `folder` is for files that only it reads."""
        words = [command, *more]
        if self.what_if is not None:
            path = os.path.join(folder, "what_if")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.what_if)
            words += ["--what-if", path]
        return run(words + self.words, self.platform, folder)


def places(trace: TracePath) -> list[Path]:
    """The paths of a trace: one, several, or those of an opened one."""
    if isinstance(trace, Trace):
        return trace._places
    paths = [trace] if isinstance(trace, (str, os.PathLike)) else trace
    if not isinstance(paths, (list, tuple)) or not all(isinstance(path, (str, os.PathLike)) for path in paths):
        raise TypeError("expected the path of a trace, a list of paths, or an opened trace")
    return list(paths)


def path_or_text(document: Document) -> tuple[Path | None, str | None]:
    """The path of a document, or its text: one of several lines, or a dictionary."""
    if isinstance(document, Mapping):
        return None, "\n".join(_toml(document))
    if isinstance(document, str) and "\n" in document:
        return None, document
    if not isinstance(document, (str, os.PathLike)):
        raise TypeError("expected a path, a text of several lines, or a dict")
    return document, None


def _toml(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    """The lines of a table of a TOML document, and of the tables in it."""
    if path:
        yield f"[{'.'.join(map(_key, path))}]"
    yield from (f"{_key(key)} = {_value(value)}" for key, value in table.items() if not isinstance(value, Mapping))
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _toml(value, (*path, key))


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, (bool, int, float, str)):
        # JSON's texts are TOML's, but for this letter.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(key)} = {_value(one)}' for key, one in value.items())}}}"
    raise ValueError(f"not a TOML document: there is no value for {value!r}")


def written(value: Any) -> str:
    """A value of a key of the platform as `--set` takes it."""
    if isinstance(value, (bool, list, tuple, dict)):
        return json.dumps(value)
    return str(value)


def option(name: str, value: Any) -> list[str]:
    """The words of an option: none if it is false or None, and one for each value of a list."""
    if value is None or value is False:
        return []
    if value is True:
        return [f"--{name}"]
    if isinstance(value, (list, tuple)):
        return [word for one in value for word in option(name, one)]
    return [f"--{name}={os.fsdecode(value) if isinstance(value, os.PathLike) else value}"]


def several(names: Names) -> list[str]:
    """The names in a list, or the only one."""
    return [names] if isinstance(names, str) else list(names)
