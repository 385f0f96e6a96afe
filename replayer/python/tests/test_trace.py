"""`titr.open`: events, manifest and communication matrix as the commands show them."""

import collections
import json

import polars
import pyarrow
import pytest

import titr
from conftest import command


def test_events_add_up_to_the_counts_of_the_command(stencil, ring):
    for path in [stencil, ring]:
        trace = titr.open(path)
        expected = json.loads(command("titr", "info", "--json", path))
        events = polars.DataFrame(trace.events())
        assert trace.ranks == expected["ranks"]
        assert events.height == expected["events"]
        assert dict(events["kind"].cast(str).value_counts().rows()) == expected["kinds"]
        assert events.filter(polars.col("kind") == "compute")["volume"].sum() == expected["compute"]
        assert events["rank"].value_counts(sort=False).sort("rank")["count"].to_list() == [
            rank["events"] for rank in expected["per_rank"]
        ]
        assert trace.info() == expected
        assert trace.manifest == expected["manifest"]


def test_an_event_has_the_fields_of_its_line(tmp_path):
    path = tmp_path / "trace.txt"
    lines = [
        "0 init",
        "0 compute 5e3",
        "0 sleep 0.5",
        "0 isend 1 7 640",
        "0 irecv 1 8 64",
        "0 waitall",
        "0 bcast 1000 0",
        "0 finalize",
        "1 init",
        "1 recv 0 7 640",
        "1 send 0 8 64",
        "1 bcast 1000 0",
        "1 finalize",
    ]
    path.write_text("\n".join(lines) + "\n")
    rows = polars.DataFrame(titr.open(path).events(0)).to_dicts()
    # The lines of rank 0 are the first of the file.
    assert [row["line"] for row in rows] == list(range(1, 9))
    assert [row["kind"] for row in rows] == [line.split()[1] for line in lines[:8]]
    named = [{name: value for name, value in row.items() if value is not None} for row in rows]
    for row in named:
        assert row.pop("rank") == 0 and row.pop("thread") == 0
        del row["line"], row["kind"]
    assert named[:4] == [
        {},
        {"volume": 5e3},
        {"seconds": 0.5},
        {"peer": 1, "tag": 7, "bytes": 640, "communicator": 0},
    ]
    assert named[6]["peer"] == 0 and named[6]["bytes"] == 1000


def test_events_come_in_tables_of_any_size(stencil):
    trace = titr.open(stencil)
    whole = pyarrow.table(trace.events(3))
    for size in [1, 7, 100_000]:
        tables = list(trace.events(3, batch_size=size))
        assert all(len(table) == size for table in tables[:-1])
        rows = [row for table in tables for row in pyarrow.table(table).to_pylist()]
        assert rows == whole.to_pylist()


def test_events_can_be_read_again(stencil):
    events = titr.open(stencil).events()
    counts = [collections.Counter(kind for table in events for kind in table["kind"]) for _ in range(2)]
    assert counts[0] == counts[1] and sum(counts[0].values()) > 100


def test_columns_are_chosen_by_name(stencil):
    events = titr.open(stencil).events(0, columns=["bytes", "kind"])
    assert polars.DataFrame(events).columns == ["bytes", "kind"]
    assert next(iter(events)).columns == ["bytes", "kind"]
    with pytest.raises(ValueError, match="there is no column 'size'"):
        titr.open(stencil).events(0, columns=["size"])


def test_the_matrix_has_the_messages_of_the_trace(stencil):
    trace = titr.open(stencil)
    matrix = polars.DataFrame(trace.matrix())
    info = trace.info()
    assert (matrix["messages"].sum(), matrix["bytes"].sum()) == (info["messages"], info["bytes"])
    # In a mesh of 4×4, rank 5 has four neighbours and rank 0 has two.
    assert matrix.filter(polars.col("from") == 5)["to"].to_list() == [1, 4, 6, 9]
    assert matrix.filter(polars.col("from") == 0)["to"].to_list() == [1, 4]


def test_what_cannot_be_read_is_an_error_with_its_place(stencil, tmp_path):
    path = tmp_path / "wrong.txt"
    path.write_text("0 init\n0 compute 5\n0 leap\n")
    with pytest.raises(titr.Error) as raised:
        list(titr.open(path).events())
    assert (str(raised.value.file), raised.value.line) == (str(path), 3)
    with pytest.raises(titr.Error, match="no-such-trace"):
        titr.open(tmp_path / "no-such-trace")
    with pytest.raises(pyarrow.ArrowInvalid, match="leap"):
        pyarrow.table(titr.open(path).events())
    with pytest.raises(IndexError, match="there is no rank 16"):
        titr.open(stencil).events(16)


def test_an_opened_trace_is_replayed(torus, stencil):
    speed = {"hosts.speed": "1 Ginstr/s"}
    by_path, opened = (titr.replay(torus, trace, set=speed) for trace in (stencil, titr.open(stencil)))
    assert by_path.simulated_time == opened.simulated_time
