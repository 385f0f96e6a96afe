"""`titr.Trace`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from ._command import Path, run, started
from ._table import FLOAT, MATRIX, NUMBER, NUMBERS, SIZE, TAG, WORD, Table, Types, of_csv, of_rows, pyarrow, schema

_EVENTS = {
    "rank": NUMBER,
    "thread": NUMBER,
    "line": SIZE,
    "kind": WORD,
    "peer": NUMBER,
    "source": NUMBER,
    "tag": TAG,
    "bytes": SIZE,
    "received": SIZE,
    "volume": FLOAT,
    "seconds": FLOAT,
    "communicator": NUMBER,
    "requests": NUMBERS,
    "begin": SIZE,
    "end": SIZE,
    "name": WORD,
}


class Trace:
    """An opened trace: the events of each rank of an MPI program."""

    __module__ = "titr"

    def __init__(self, places: list[Path], partial: bool) -> None:
        self._places, self._partial = places, ["--partial"] if partial else []
        self._known: dict[str, Any] = json.loads(run(["info", "--manifest", "--", *places]))

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return self._known["ranks"]

    @property
    def manifest(self) -> dict[str, Any] | None:
        """The manifest, which says how the trace was recorded, as dicts and lists; None if the trace has none."""
        return self._known["manifest"]

    def info(self) -> dict[str, Any]:
        """Reads the trace, and returns what it contains: the object that `titr info --json` prints."""
        return json.loads(run(["info", "--json", "--", *self._places]))

    def events(
        self, rank: int | None = None, *, columns: Sequence[str] | None = None, batch_size: int = 65536
    ) -> Events:
        """The events of a rank, or of all ranks one after another, in their order: an iterable of tables with up to `batch_size`
        rows, and a stream for libraries that speak Arrow: polars.DataFrame(trace.events(0)).

        A row is an event. Its columns, each absent where the event has no such thing:
        rank, thread; line, in the file of the rank; kind, the word of the event, such as "isend";
        peer, the destination of a send, the source of a receive, the root of a collective, the target of an access;
        source, of the second half of a sendrecv; tag;
        bytes that the rank gives, or that a receive has room for; received, the bytes that a collective, an access or the second
        half of a sendrecv gets; volume, of computation, in instructions or as the manifest's counter says; seconds, of a sleep;
        communicator; requests, a list of their numbers; begin and end of a call in nanoseconds, in extended traces;
        name, of a region or a function.

        columns: the names of the columns to keep.
        """
        if rank is not None and not 0 <= rank < self.ranks:
            raise IndexError(f"there is no rank {rank} among its {self.ranks}")
        if batch_size < 1:
            raise ValueError("batch_size must be at least 1")
        for name in columns or []:
            if name not in _EVENTS:
                raise ValueError(f"there is no column '{name}': there are {', '.join(_EVENTS)}")
        of_rank = [] if rank is None else [f"--rank={rank}"]
        words = ["cat", "--csv", *self._partial, *of_rank, "--", *self._places]
        return Events(words, {name: _EVENTS[name] for name in columns or _EVENTS}, batch_size)

    def matrix(self) -> Table:
        """The communication matrix of the messages outside of collectives: from, to, messages, bytes."""
        with started(["info", "--matrix", "--", *self._places]) as process:
            return next(of_csv(MATRIX, process.stdout), of_rows(MATRIX, []))

    def __repr__(self) -> str:
        return f"titr.Trace of {self.ranks} ranks ({', '.join(map(os.fsdecode, self._places))})"


class Events:
    """The events of a rank, or of all ranks, as tables.

    Iterates over tables of some rows each, any number of times. Libraries that speak Arrow read all of them as a stream:
    polars.DataFrame(events), pyarrow.table(events).
    """

    __module__ = "titr"

    def __init__(self, words: Sequence[Path], types: Types, batch_size: int) -> None:
        self._words, self._types, self._batch_size = words, types, batch_size

    def __iter__(self) -> Iterator[Table]:
        with started(self._words) as process:
            yield from of_csv(self._types, process.stdout, self._batch_size)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow's PyCapsule interface: a stream that reads the trace as it is consumed."""
        batches = (table._batch() for table in self)
        reader = pyarrow().RecordBatchReader.from_batches(schema(self._types), batches)
        return reader.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Arrow's PyCapsule interface: the names and types of the columns."""
        return schema(self._types).__arrow_c_schema__()
