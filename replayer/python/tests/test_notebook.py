"""The notebook of the examples runs from its first cell to its last, with a real MPI program, and draws a figure."""

import os
import shutil
import sysconfig

import nbformat
from conftest import EXAMPLES
from nbclient import NotebookClient

RELEASE = os.environ.get("TITR_RELEASE", "")


def test_the_notebook_runs_and_draws(tmp_path, monkeypatch):
    assert os.path.exists(os.path.join(RELEASE, "titrace")), "TITR_RELEASE is the directory of titrace: see ci/test"
    path = os.pathsep.join([sysconfig.get_path("scripts"), RELEASE, os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)
    shutil.copy(EXAMPLES / "measurements.json", tmp_path)
    notebook = nbformat.read(EXAMPLES / "how-fast-a-network.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = "".join(str(output.get("text", "")) + str(output.get("data", {}).get("text/plain", "")) for output in outputs)
    assert "traced 16 ranks" in texts
    assert "'messages': 1920" in texts
    assert any("image/png" in output.get("data", {}) for output in outputs)
