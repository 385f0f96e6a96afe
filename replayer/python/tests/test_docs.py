"""The blocks of docs/PYTHON.md, run in their order, print what the page shows."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sysconfig

from conftest import EXAMPLES

PAGE = EXAMPLES.parent / "docs" / "PYTHON.md"


def test_the_page_shows_what_its_blocks_print(tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("svg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", sysconfig.get_path("scripts") + os.pathsep + os.environ["PATH"])
    shutil.copytree(EXAMPLES, "examples")
    names, printed, shown = {}, "", 0
    for language, block in re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(), re.DOTALL):
        if language == "sh" and "pip install" not in block:
            subprocess.run(["bash", "-euc", block], check=True)
        elif language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block, str(PAGE), "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert printed == block
            shown += 1
    assert shown >= 6
    assert (tmp_path / "ranks.svg").stat().st_size > 1000
