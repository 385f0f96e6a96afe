"""Ctrl-C ends long work, and other threads run meanwhile."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import titr
from conftest import SPEED, command, script

PROGRAM = """
import sys, titr
trace, platform = sys.argv[1:]
try:
    print("begun", flush=True)
    {call}
    print("ended")
except KeyboardInterrupt:
    print("interrupted", titr.replay(platform, {ring!r}, set={set!r}).simulated_time > 0)
    sys.exit(7)
"""


@pytest.mark.parametrize(
    "call",
    [
        "titr.replay(platform, trace, set={set!r})",
        "titr.sweep(platform, trace, {{'hosts.cores': [1, 2]}}, set={set!r})",
        "list(titr.open(trace).events())",
    ],
)
def test_a_signal_ends_a_replay_and_python_goes_on(call, torus, long, ring):
    program = PROGRAM.format(call=call.format(set=SPEED), ring=str(ring), set=SPEED)
    words = [sys.executable, "-c", program, str(long), str(torus)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate()
    assert (said, process.returncode) == ("interrupted True\n", 7)


def test_a_signal_ends_a_command(torus, long):
    words = [script("titr"), "cat", str(long)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout.read(1) == b"0"
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode == -signal.SIGINT


def test_a_command_ends_when_nobody_reads_its_events_any_more(long):
    children = lambda: open(f"/proc/self/task/{os.getpid()}/children").read().split()
    before = children()
    tables = iter(titr.open(long).events(batch_size=10))
    assert len(next(tables)) == 10 and len(children()) == len(before) + 1
    del tables
    assert children() == before


def test_other_threads_run_during_a_replay(torus, stencil):
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    titr.replay(torus, stencil, set=SPEED, runs=50)
    during = counted - before
    done.set()
    thread.join()
    assert during > 0


def test_replays_of_several_threads_do_not_disturb_each_other(torus, stencil):
    times = []
    work = lambda: times.append(titr.replay(torus, stencil, set=SPEED).simulated_time)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(times) == 4 and len(set(times)) == 1


def test_the_commands_of_the_wheel_agree_on_their_version():
    assert command("titr", "--version") == f"titr {titr.__version__}\n"
    assert os.access(script("titr-replay"), os.X_OK)
    assert "Predicts how long" in command("titr-replay", "--help")
