"""`titr.sweep` and `titr.calibrate`: the same numbers as the commands."""

import json

import polars
import pytest

import titr
from conftest import SPEED, SPEED_WORDS, command


def test_a_sweep_has_the_times_of_the_command(torus, stencil):
    axes = {"network.latency": ["1us", "100us"], "hosts.cores": [1, 2, 4]}
    table = titr.sweep(torus, stencil, axes, set=SPEED)
    keys = ["--key", "network.latency=1us,100us", "--key", "hosts.cores=1,2,4"]
    expected = json.loads(command("titr", "vary", "--json", "--platform", torus, *SPEED_WORDS, *keys, stencil))
    frame = polars.DataFrame(table)
    assert frame["simulated_time"].to_list() == [
        varied["result"]["simulated_time"] for varied in expected["variations"]
    ]
    assert frame["network.latency"].to_list() == 3 * ["1us"] + 3 * ["100us"]
    assert frame["hosts.cores"].to_list() == 2 * [1, 2, 4]
    assert frame["parallel"].to_list() == [
        varied["result"]["efficiencies"]["parallel"] for varied in expected["variations"]
    ]


def test_columns_have_the_types_of_the_values(torus, stencil):
    axes = {"mpi.eager_threshold": ["1 kB"], "hosts.regions.solve": [0.5, 1.0], "topology.torus.dims": [[4, 4], [2, 8]]}
    table = titr.sweep(torus, stencil, axes, set=SPEED, jobs=2)
    assert len(table) == 4
    assert table["hosts.regions.solve"] == [0.5, 0.5, 1.0, 1.0]
    assert table["topology.torus.dims"] == ["[4, 4]", "[2, 8]", "[4, 4]", "[2, 8]"]
    assert table["mpi.eager_threshold"] == 4 * ["1 kB"]


def test_a_sweep_without_values_is_refused(torus, stencil):
    with pytest.raises(ValueError, match="the axis 'hosts.cores' has no values"):
        titr.sweep(torus, stencil, {"hosts.cores": []})
    with pytest.raises(titr.Error, match="required"):
        titr.sweep(torus, stencil, {})
    with pytest.raises(titr.Error, match="unknown key"):
        titr.sweep(torus, stencil, {"hosts.korn": [1]}, set=SPEED)


@pytest.fixture
def measurements(tmp_path):
    """Ping-pong between two hosts with 1 µs of latency and 10 Gbit/s."""
    sizes = [0, *(2**power for power in range(23))]
    points = [{"bytes": size, "seconds": 5 * [1e-6 + size / 1.25e9]} for size in sizes]
    series = [{"pattern": "ping-pong", "ranks": [0, 1], "points": points}]
    path = tmp_path / "measurements.json"
    path.write_text(
        json.dumps(
            {
                "titr_measurements": 1,
                "mpi": "Open MPI 4",
                "hosts": ["a", "b"],
                "places": [0, 1],
                "series": series,
                "late_receives": [],
            }
        )
    )
    return path


def test_a_calibration_is_that_of_the_command(measurements, tmp_path, ring):
    text = titr.calibrate(measurements, topology="torus=4x4")
    written = tmp_path / "cluster.toml"
    command("titr", "calibrate", measurements, "--topology", "torus=4x4", "--output", written)
    assert text == written.read_text()
    assert titr.replay(text, ring).simulated_time > 0


def test_a_calibration_is_an_error_without_measurements(tmp_path):
    with pytest.raises(titr.Error, match="missing.json"):
        titr.calibrate(tmp_path / "missing.json")
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{\n"mpi": 3}')
    with pytest.raises(titr.Error, match="no measurements") as raised:
        titr.calibrate(wrong)
    assert (str(raised.value.file), raised.value.line) == (str(wrong), 2)
    with pytest.raises(titr.Error, match="topology"):
        titr.calibrate(tmp_path / "missing.json", topology="spiral")
