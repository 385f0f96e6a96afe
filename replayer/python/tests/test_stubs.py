"""The types in the stubs are those of the module."""

import subprocess
import sys


def test_the_stubs_describe_the_module(tmp_path):
    run = subprocess.run([sys.executable, "-m", "mypy.stubtest", "titr"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
