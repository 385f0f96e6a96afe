"""What the tests share: the examples of the repository, generated traces, and the commands that the wheel installs."""

import csv
import json
import os
import pathlib
import subprocess
import sysconfig

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"

#: The speed of hosts, for traces that do not say how fast their computation was counted.
SPEED = {"hosts.speed": "2.5 Ginstr/s"}
SPEED_WORDS = ("--set", "hosts.speed=2.5 Ginstr/s")


def script(name):
    """The path of a command that the wheel installs."""
    return os.path.join(sysconfig.get_path("scripts"), name)


def command(name, *words):
    """What a command prints."""
    run = subprocess.run([script(name), *map(str, words)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def failing(*words):
    """The message of a run of titr that fails."""
    run = subprocess.run([script("titr"), *map(str, words)], capture_output=True, text=True)
    assert run.returncode == 1, run
    return run.stderr.removeprefix("titr: ").rstrip("\n")


def replayed(*words):
    """The object that `titr replay --json` prints, without titr's own speed."""
    return without_speed(command("titr", "replay", "--json", *SPEED_WORDS, *words))


def without_speed(text):
    """A result from its JSON, without titr's own speed, which no two replays have in common."""
    result = json.loads(text)
    del result["replay"]
    return result


def cells(path):
    """The header and the rows of a CSV file."""
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


@pytest.fixture(scope="session")
def torus():
    return EXAMPLES / "torus.toml"


@pytest.fixture(scope="session")
def ring():
    return EXAMPLES / "ring.txt"


@pytest.fixture(scope="session")
def traces(tmp_path_factory):
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="session")
def stencil(traces):
    """A trace of sixteen ranks that compute and exchange halos."""
    path = traces / "stencil"
    words = ["--ranks", 16, "--dimensions", "4x4", "--bytes", "8KiB", "--iterations", 20, "--compute", "1e6"]
    command("titr", "generate", "stencil", *words, "-o", path)
    return path


@pytest.fixture(scope="session")
def long(traces):
    """A trace whose replay takes much longer than a test waits for."""
    path = traces / "long"
    words = ["--ranks", 64, "--bytes", "100kB", "--iterations", 3000]
    command("titr", "generate", "all-to-all", *words, "-o", path)
    return path
