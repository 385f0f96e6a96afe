"""`titr.Result`."""

from __future__ import annotations

import csv
import html
import json
import os
import pathlib
import tempfile
from typing import Any, TypedDict

from ._arguments import Replay, option
from ._command import Error, Path
from ._table import FLOAT, MATRIX, NUMBER, SIZE, TEXT, TRUTH, WORD, Table, of_csv, of_objects, of_rows

#: The number of lines of the summary that stand for a result.
_SHOWN = 6

_RANKS = {"rank": NUMBER, **dict.fromkeys(["compute", "send", "recv", "wait", "file", "collective", "finish"], FLOAT)}
_LINKS = {"name": TEXT, "bytes": SIZE, "messages": SIZE, "use": FLOAT}
_PLACE = {"rank": NUMBER, "region": WORD, "call_site": WORD}
_WAITS = {**_PLACE, "communicator": NUMBER, "pattern": WORD, "seconds": FLOAT}
_SEGMENTS = {**_PLACE, "kind": WORD, "seconds": FLOAT}
_MESSAGES = {"from": NUMBER, "to": NUMBER, "bytes": SIZE, "departed": FLOAT, "arrived": FLOAT, "in_collective": TRUTH}
_STATES = {"rank": NUMBER, "activity": WORD, "begin": FLOAT, "end": FLOAT}


class Efficiencies(TypedDict, total=False):
    """Fractions, 1 at best."""

    parallel: float
    load_balance: float
    communication: float
    serialisation: float
    transfer: float


def of_replay(call: Replay, analyses: list[str], observers: list[str]) -> Result:
    """The result of a replay."""
    for name in observers:
        if name not in _OBSERVERS:
            raise ValueError(f"there is no observer '{name}': there are {', '.join(_OBSERVERS)}")
    with tempfile.TemporaryDirectory() as folder:
        words = ["--json", "--csv", folder, *(f"--analyse={name}" for name in analyses)]
        files = {name: os.path.join(folder, f"{name}.csv") for name in observers}
        recording = [f"{_OBSERVERS[name][0]}={path}" for name, path in files.items()]
        printed = call.run("replay", folder, *words, *recording)
        summary, links = (pathlib.Path(folder, name).read_text(encoding="utf-8") for name in ["summary.txt", "links.csv"])
        recorded = {name: _OBSERVERS[name][1](path) for name, path in files.items()}
        return Result(call, printed.rstrip("\n"), summary, links, recorded)


def _messages(path: str) -> Table:
    """The messages of a timeline, in the order of departure."""
    messages = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["kind"] == "message":
                ends, bytes = (int(row["rank"]), int(row["to"])), int(row["value"])
                times = float(row["begin"]), float(row["end"])
                messages.append((*ends, bytes, *times, row["name"] == "message of a collective"))
    messages.sort(key=lambda message: message[3])
    return of_rows(_MESSAGES, messages)


def _states(path: str) -> Table:
    with open(path, newline="", encoding="utf-8") as file:
        return next(of_csv(_STATES, file), of_rows(_STATES, []))


#: The option of each observer, and what reads the file that the option writes.
_OBSERVERS = {"messages": ("--timeline-csv", _messages), "states": ("--states", _states)}


class Result:
    """The result of a replay.

    Times are seconds, sizes are bytes, and efficiencies, the use of links and the uncertainty are fractions.
    """

    __module__ = "titr"

    def __init__(self, call: Replay, json_text: str, summary: str, links: str, recorded: dict[str, Table]) -> None:
        self._call, self._json, self._summary, self._links, self._recorded = call, json_text, summary, links, recorded
        self._result = json.loads(json_text)

    @property
    def simulated_time(self) -> float:
        """The predicted time in seconds."""
        return self._result["simulated_time"]

    @property
    def uncertainty(self) -> float | None:
        """The standard deviation of the predicted time as a fraction of it; None if nothing is known of it."""
        return self._result.get("uncertainty")

    @property
    def warnings(self) -> list[str]:
        """What could not be simulated as in the program, a sentence each."""
        return list(self._result["warnings"])

    @property
    def efficiencies(self) -> Efficiencies | None:
        """The parallel efficiency and its factors (parallel, load_balance, communication, serialisation, transfer) as fractions;
        None if no rank computes."""
        return self._result.get("efficiencies")

    @property
    def ranks(self) -> Table:
        """A row for each rank: rank, and its seconds of compute, send, recv, wait, file and collective, and finish, the time at
        which it ended."""
        return of_objects(_RANKS, [{"rank": rank, **row} for rank, row in enumerate(self._result["per_rank"])])

    @property
    def links(self) -> Table:
        """A row for each link that carried anything, the busiest first: name, bytes, messages, and use, the fraction of what the
        link could have carried."""
        return next(of_csv(_LINKS, self._links.splitlines(keepends=True)), of_rows(_LINKS, []))

    @property
    def messages(self) -> Table:
        """A row for each message in the network, those of collectives included: from, to, bytes, departed and arrived in seconds,
        and whether it is in_collective. Needs observers=["messages"]."""
        return self._of_observer("messages")

    @property
    def states(self) -> Table:
        """A row for each state of a rank: rank, activity, begin and end in seconds. Needs observers=["states"]."""
        return self._of_observer("states")

    @property
    def matrix(self) -> Table:
        """A row for each pair of ranks with messages in the network, those of collectives included: from, to, messages, bytes.
        Needs analyses=["matrix"]."""
        return of_objects(MATRIX, self._found("matrix"))

    @property
    def wait_states(self) -> Table:
        """The waiting of ranks, the longest first: rank, region, call_site, communicator, pattern, seconds. Needs
        analyses=["wait-states"]."""
        return of_objects(_WAITS, self._found("wait-states")["waits"])

    @property
    def critical_path(self) -> Table:
        """The parts of the critical path, the longest first: rank, region, call_site, kind, seconds. The seconds add up to the
        predicted time. Needs analyses=["critical-path"]."""
        return of_objects(_SEGMENTS, self._found("critical-path")["segments"])

    def json(self) -> str:
        """The result as the text of a JSON object, as `titr replay --json` prints it."""
        return self._json

    def summary(self) -> str:
        """The summary that `titr replay` prints."""
        return self._summary

    def report(self, path: Path, *, compare: Path | None = None) -> None:
        """Replays once more, and writes a page for a browser (`titr replay --report`). `compare` is the path of an earlier result
        to compare with, as `json` returns it."""
        with tempfile.TemporaryDirectory() as folder:
            self._call.run("replay", folder, *option("report", path), *option("compare", compare))

    def plot(self, ax: Any = None) -> Any:
        """Draws the time of each rank by activity, and returns the axes of matplotlib. `ax` are axes to draw into."""
        from ._plot import plot

        return plot(self, ax)

    def __repr__(self) -> str:
        return "\n".join(self._summary.splitlines()[:_SHOWN])

    def _repr_html_(self) -> str:
        first, whole = (html.escape(text, quote=False) for text in (repr(self), self._summary))
        return f"<pre>{first}</pre><details><summary>More</summary><pre>{whole}</pre></details>"

    def _found(self, name: str) -> Any:
        """The findings of an analysis."""
        found = self._result.get("analyses", {}).get(name)
        if found is None:
            raise Error(f'the analysis was not made: replay with analyses=["{name}"]')
        return found

    def _of_observer(self, name: str) -> Table:
        """The table of an observer."""
        if name not in self._recorded:
            raise Error(f'{name} were not recorded: replay with observers=["{name}"]')
        return self._recorded[name]
