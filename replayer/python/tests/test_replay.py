"""`titr.replay`: the same result as the command, as tables."""

import json
import pathlib
import sys
import tomllib

import pandas
import polars
import pyarrow
import pytest

import titr
from conftest import SPEED, SPEED_WORDS, cells, command, failing, replayed, without_speed

ALL = ["critical-path", "wait-states", "matrix"]


def equal(table, header, rows):
    """Compares a table with CSV cell by cell: numbers by value, everything else by its text."""
    frame = pandas.DataFrame.from_arrow(table)
    assert sorted(frame.columns) == sorted(header)
    assert len(frame) == len(rows)
    for (_, of_frame), of_file in zip(frame.iterrows(), rows):
        for name, cell in zip(header, of_file):
            value = of_frame[name]
            assert value == (cell if isinstance(value, str) else type(value)(cell)), name


def test_a_result_is_that_of_the_command(torus, stencil):
    result = titr.replay(torus, stencil, set=SPEED, analyses=ALL)
    analyses = [word for name in ALL for word in ("--analyse", name)]
    expected = replayed("--platform", torus, *analyses, stencil)
    assert without_speed(result.json()) == expected
    assert result.simulated_time == expected["simulated_time"]
    assert result.warnings == expected["warnings"]
    assert result.efficiencies == expected["efficiencies"]
    assert result.uncertainty is expected.get("uncertainty")


def test_data_frames_equal_csv_cell_by_cell(torus, stencil, tmp_path):
    result = titr.replay(torus, stencil, set=SPEED)
    command("titr", "replay", "--quiet", "--csv", tmp_path, "--platform", torus, *SPEED_WORDS, stencil)
    equal(result.ranks, *cells(tmp_path / "ranks.csv"))
    equal(result.links, *cells(tmp_path / "links.csv"))
    assert len(result.ranks) == 16 and len(result.links) > 5


def test_every_library_reads_the_same_table(torus, stencil):
    ranks = titr.replay(torus, stencil, set=SPEED).ranks
    expected = ranks.to_dict()
    assert list(expected) == ranks.columns and ranks.shape == (16, 8)
    assert polars.DataFrame(ranks).to_dict(as_series=False) == expected
    assert pyarrow.table(ranks).to_pydict() == expected
    assert pyarrow.record_batch(ranks).to_pydict() == expected
    assert pandas.DataFrame.from_arrow(ranks).to_dict("list") == expected
    assert ranks.to_pandas().to_dict("list") == expected


def test_nothing_is_copied(torus, stencil):
    result = titr.replay(torus, stencil, set=SPEED, observers="messages")
    addresses = {pyarrow.table(result.messages)["departed"].chunk(0).buffers()[1].address for _ in range(2)}
    assert len(addresses) == 1


def test_findings_are_tables(torus, stencil):
    result = titr.replay(torus, stencil, set=SPEED, analyses=ALL)
    found = json.loads(result.json())["analyses"]
    for table, rows in [
        (result.critical_path, found["critical-path"]["segments"]),
        (result.wait_states, found["wait-states"]["waits"]),
        (result.matrix, found["matrix"]),
    ]:
        columns = {name: [row.get(name) for row in rows] for name in table.columns}
        assert table.to_dict() == columns
        assert polars.DataFrame(table).height == len(rows)
    assert sum(result.critical_path["seconds"]) == pytest.approx(result.simulated_time)


def test_observers_see_each_message_and_each_state(torus, stencil):
    result = titr.replay(torus, stencil, set=SPEED, analyses="matrix", observers=["messages", "states"])
    messages = polars.DataFrame(result.messages)
    assert messages.height == json.loads(result.json())["messages"]
    assert (messages["departed"] <= messages["arrived"]).all()
    pairs = messages.group_by("from", "to").agg(messages=polars.len(), bytes=polars.col("bytes").sum()).sort("from", "to")
    matrix = polars.DataFrame(result.matrix)
    assert pairs.select("from", "to", "messages", "bytes").rows() == matrix.rows()

    states = polars.DataFrame(result.states).with_columns(seconds=polars.col("end") - polars.col("begin"))
    ranks = polars.DataFrame(result.ranks)
    for activity in ["compute", "send", "recv", "wait", "file", "collective"]:
        seconds = states.filter(polars.col("activity") == activity).group_by("rank").agg(polars.col("seconds").sum())
        sums = dict(seconds.rows())
        for rank, expected in ranks.select("rank", activity).rows():
            assert sums.get(rank, 0.0) == pytest.approx(expected, abs=1e-12)


def test_what_was_not_recorded_is_an_error_with_advice(torus, ring):
    result = titr.replay(torus, ring, set=SPEED)
    for name, advice in [
        ("messages", 'observers=["messages"]'),
        ("states", 'observers=["states"]'),
        ("matrix", 'analyses=["matrix"]'),
        ("wait_states", 'analyses=["wait-states"]'),
        ("critical_path", 'analyses=["critical-path"]'),
    ]:
        with pytest.raises(titr.Error, match="replay with") as raised:
            getattr(result, name)
        assert advice in str(raised.value)


def test_a_platform_is_a_path_a_text_or_a_dict(torus, stencil):
    text = torus.read_text()
    tables = tomllib.loads(text)
    times = {titr.replay(platform, stencil, set=SPEED).simulated_time for platform in [torus, str(torus), text, tables]}
    assert len(times) == 1
    tables["hosts"]["speed"] = "2.5 Ginstr/s"
    assert titr.replay(tables, stencil).simulated_time in times


def test_hypotheses_are_a_path_a_text_or_a_dict(torus, stencil, tmp_path):
    text = '[[change]]\nkind = "scale-compute"\nfactor = 0.5\n'
    path = tmp_path / "change.toml"
    path.write_text(text)
    whole = titr.replay(torus, stencil, set=SPEED).simulated_time
    times = {
        titr.replay(torus, stencil, set=SPEED, what_if=what_if).simulated_time
        for what_if in [path, text, {"change": [{"kind": "scale-compute", "factor": 0.5}]}]
    }
    assert len(times) == 1 and times.pop() < whole


def test_settings_have_values_of_any_type(torus, stencil):
    expected = replayed("--platform", torus, "--set", "hosts.cores=2", "--set", "topology.torus.dims=[2, 4]", stencil)
    for dims in [[2, 4], (2, 4), "[2, 4]"]:
        set = {**SPEED, "hosts.cores": 2, "topology.torus.dims": dims}
        assert titr.replay(torus, stencil, set=set).simulated_time == expected["simulated_time"]
    listed = ["hosts.speed=2.5 Ginstr/s", "hosts.cores=2", "topology.torus.dims=[2, 4]"]
    assert titr.replay(torus, stencil, set=listed).simulated_time == expected["simulated_time"]


def test_options_of_the_command_are_keyword_arguments(torus, stencil, tmp_path):
    trace = tmp_path / "run.paje"
    result = titr.replay(torus, stencil, set=SPEED, compute_scale=0.5, collectives="openmpi", paje=trace, normalise=None)
    expected = replayed("--platform", torus, "--compute-scale", "0.5", "--collectives", "openmpi", stencil)
    assert without_speed(result.json()) == expected
    assert trace.read_text().startswith("%EventDef")


def test_a_result_shows_itself(torus, stencil):
    result = titr.replay(torus, stencil, set=SPEED)
    summary = command("titr", "replay", "--platform", torus, *SPEED_WORDS, stencil)
    assert repr(result).splitlines()[0] == summary.splitlines()[0]
    assert "Predicted time" in repr(result)
    assert "titr.Table of 16 rows (rank: UInt32" in repr(result.ranks)


def test_names_of_a_trace_are_no_html(torus, tmp_path):
    trace = tmp_path / "<b>&"
    command("titr", "generate", "all-to-all", "--ranks", 4, "--bytes", "1kB", "-o", trace)
    platform = tomllib.loads(torus.read_text())
    platform["hosts"]["speed"] = "1 Ginstr/s"
    html = titr.replay(platform, trace)._repr_html_()
    assert html.startswith("<pre>") and "Predicted time" in html
    inside = html
    for tag in ["pre", "details", "summary"]:
        inside = inside.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
    assert "<" not in inside


def test_a_page_is_written(torus, stencil, tmp_path):
    result = titr.replay(torus, stencil, set=SPEED, compute_scale=2)
    before, page = tmp_path / "before.json", tmp_path / "page.html"
    before.write_text(titr.replay(torus, stencil, set=SPEED).json())
    result.report(page)
    assert page.read_text().startswith("<!")
    result.report(page, compare=before)
    with pytest.raises(titr.Error, match="missing.json"):
        result.report(page, compare=tmp_path / "missing.json")


def test_ranks_are_drawn(torus, stencil):
    import matplotlib

    matplotlib.use("svg")
    result = titr.replay(torus, stencil, set=SPEED)
    axes = result.plot()
    heights = sum(patch.get_height() for patch in axes.patches)
    shares = ["compute", "send", "recv", "wait", "file", "collective"]
    assert heights == pytest.approx(sum(sum(result.ranks[name]) for name in shares))
    assert result.plot(axes) is axes


def test_without_matplotlib_an_import_error_says_so(torus, ring, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        titr.replay(torus, ring, set=SPEED).plot()


def test_an_error_has_the_message_of_the_command_and_its_place(torus, stencil, tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(torus.read_text().replace('"10 Gbit/s"', '"10 Gbit"'))
    line = 1 + wrong.read_text().splitlines().index('bandwidth = "10 Gbit"')
    with pytest.raises(titr.Error) as raised:
        titr.replay(wrong, stencil)
    assert str(raised.value) == failing("replay", "--platform", wrong, stencil)
    assert (pathlib.Path(raised.value.file), raised.value.line) == (wrong, line)

    with pytest.raises(titr.Error) as raised:
        titr.replay(wrong.read_text(), stencil)
    assert (str(raised.value.file), raised.value.line) == ("platform", line)

    torn = tmp_path / "torn.txt"
    torn.write_text("0 init\n0 compute 100\n0 leap 3\n0 finalize\n")
    with pytest.raises(titr.Error) as raised:
        titr.replay(torus, torn, set=SPEED)
    assert str(raised.value) == failing("replay", "--platform", torus, *SPEED_WORDS, torn)
    assert (pathlib.Path(raised.value.file), raised.value.line) == (torn, 3)

    with pytest.raises(titr.Error) as raised:
        titr.replay(torus, stencil, set={"network.bandwith": 3})
    assert (raised.value.file, raised.value.line) == (None, None)


def test_wrong_arguments_are_refused(torus, stencil):
    with pytest.raises(titr.Error, match="unexpected argument 'colour'"):
        titr.replay(torus, stencil, colour="red")
    with pytest.raises(titr.Error, match="invalid value 'luck'"):
        titr.replay(torus, stencil, analyses=["luck"])
    with pytest.raises(TypeError, match=r"(?s)unexpected argument 'analysis' found.*analyses=\[...\] explains"):
        titr.replay(torus, stencil, analysis=["matrix"])
    with pytest.raises(titr.Error, match="invalid value 'luck' for 'analyses'"):
        titr.replay(torus, stencil, analyses="luck")
    with pytest.raises(FileNotFoundError, match="cannot read the platform nothing.toml"):
        titr.replay("nothing.toml", stencil)
    with pytest.raises(FileNotFoundError, match="nothing: No such file"):
        titr.open("nothing")
    with pytest.raises(TypeError, match="'csv'"):
        titr.replay(torus, stencil, csv="tables")
    with pytest.raises(ValueError, match="there is no observer 'bytes'"):
        titr.replay(torus, stencil, observers=["bytes"])
    with pytest.raises(TypeError, match="a path, a text of several lines, or a dict"):
        titr.replay(3, stencil)
    with pytest.raises(ValueError, match="TOML"):
        titr.replay({"schema": None}, stencil)
    with pytest.raises(KeyError, match="there is no column"):
        titr.replay(torus, stencil, set=SPEED).ranks["luck"]
