"""titr: predicts how long MPI programs take on other machines, by replaying traces of them.

>>> import titr
>>> result = titr.replay("torus.toml", "traces/", set={"network.bandwidth": "40 Gbit/s"})
>>> result.simulated_time
0.0176

Each function runs the command of the same name, with the options of the command as keyword arguments, so that both agree in
meaning and in messages. docs/PYTHON.md is an introduction.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from ._arguments import Document, Names, Replay, Set, TracePath, option, places, several, written
from ._command import Error, Path, __version__, run
from ._result import Result, of_replay
from ._table import FLOAT, INTEGER, SIZE, TEXT, Table, Type, of_rows
from ._trace import Events, Trace

__all__ = ["Error", "Events", "Result", "Table", "Trace", "__version__", "calibrate", "open", "replay", "sweep"]


def replay(
    platform: Document,
    trace: TracePath,
    *,
    set: Set | None = None,
    what_if: Document | None = None,
    analyses: Names = (),
    observers: Names = (),
    **options: Any,
) -> Result:
    """Predicts how long a traced program takes on a machine.

    platform: the path of a platform file (titr's TOML or SimGrid's XML), its text, one line, or a dict of its tables.
    trace: the path of a trace, a list of paths of its parts, or an opened trace.
    set: keys of the platform with their values, such as {"network.bandwidth": "40 Gbit/s", "hosts.cores": 2}.
    what_if: the path of a file of hypotheses, its text, or a dict: {"change": [{"kind": "balance-compute"}]}.
    analyses: the analyses to make, of "critical-path", "wait-states" and "matrix".
    observers: what to record one by one: "messages", "states".

    Any other option of `titr replay --help` is a keyword argument, with _ in place of -: compute="timed", partial=True,
    runs=5, suggest=True. Other threads run meanwhile, and Ctrl-C ends the replay.

    Raises titr.Error with the message of the command.
    """
    return of_replay(Replay(platform, trace, set, what_if, options), several(analyses), several(observers))


def sweep(
    platform: Document,
    trace: TracePath,
    axes: Mapping[str, Sequence[Any]],
    *,
    set: Set | None = None,
    what_if: Document | None = None,
    **options: Any,
) -> Table:
    """Replays a program on each combination of values of keys of a platform, several at the same time, and returns a table.

    The table has a row for each combination, the values of the last key taking turns first: a column for each key, with the
    value as it was given; simulated_time in seconds; uncertainty, parallel (the parallel efficiency), load_balance and
    communication as fractions; messages; and bytes.

    axes: keys and their values, such as {"network.latency": ["1us", "2us"], "hosts.cores": [1, 2]}; a text is one value.
    jobs: the number of replays at the same time; by default the number of processors.

    Everything else is as for titr.replay.
    """
    axes = {key: [values] if isinstance(values, str) else list(values) for key, values in axes.items()}
    keys = []
    for key, values in axes.items():
        if not values:
            raise ValueError(f"the axis '{key}' has no values")
        keys.append(f"--key={key}={','.join(_quoted(written(value)) for value in values)}")
    call = Replay(platform, trace, set, what_if, options)
    with tempfile.TemporaryDirectory() as folder:
        results = [varied["result"] for varied in json.loads(call.run("vary", folder, "--json", *keys))["variations"]]
    types = {key: _type(values) for key, values in axes.items()}
    efficiencies = ["parallel", "load_balance", "communication"]
    rows = []
    for combination, result in zip(itertools.product(*axes.values()), results):
        found = result.get("efficiencies", {})
        given = [str(value) if type is TEXT else value for type, value in zip(types.values(), combination)]
        fractions = [result.get("uncertainty"), *map(found.get, efficiencies)]
        rows.append([*given, result["simulated_time"], *fractions, result["messages"], result["bytes"]])
    types.update(dict.fromkeys(["simulated_time", "uncertainty", *efficiencies], FLOAT), messages=SIZE, bytes=SIZE)
    return of_rows(types, rows)


def _quoted(value: str) -> str:
    """A value that is not taken for several: in quotes if a comma in it would separate two."""
    return json.dumps(value, ensure_ascii=False) if "," in value and value[0] not in '[{"' else value


def _type(values: Sequence[Any]) -> Type:
    """The type of the column of an axis."""
    if any(isinstance(value, bool) or not hasattr(value, "__float__") for value in values):
        return TEXT
    return INTEGER if all(isinstance(value, int) for value in values) else FLOAT


def open(trace: Path | Sequence[Path], *, partial: bool = False) -> Trace:
    """Opens a trace: a directory, an archive, a file, or a list of the parts of one.

    partial: whether a trace that is torn, of a program that was killed or still runs, ends where it is torn; otherwise, to read
    that far is an error.
    """
    return Trace(places(trace), partial)


def calibrate(measurements: Path, *, topology: str = "star", trace: Path | None = None) -> str:
    """Fits a platform to measurements, and returns the text of the platform file.

    measurements: the path of the file that `titr-calibrate --measurements` wrote.
    topology: the topology, as `titr calibrate --topology` takes it, such as "torus=4x4".
    trace: the path of an extended trace of a program, from which the speed of a core is taken.
    """
    with tempfile.TemporaryDirectory() as folder:
        platform = pathlib.Path(folder, "cluster.toml")
        try:
            words = [*option("topology", topology), *option("trace", trace), *option("output", platform)]
            run(["calibrate", *words, "--", measurements])
        except Error:
            # With a platform, the status says that it does not fit some measurements.
            if not platform.exists():
                raise
        return platform.read_text(encoding="utf-8")
