"""The notebooks of examples/notebooks run, and give the outputs that they show."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nbclient", reason="nbclient is not installed")
FOLDER = Path(__file__).parent.parent / "examples" / "notebooks"


def outputs(path):
    import nbformat

    return [cell.outputs for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]


@pytest.mark.slow
def test_every_notebook_runs_and_gives_the_outputs_that_it_shows(tmp_path):
    for path in (*FOLDER.glob("*.ipynb"), FOLDER / "execute.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    # A process of its own: the kernels' libraries warn, and the tests take warnings for errors.
    command = [sys.executable, "execute.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    shown = sorted(FOLDER.glob("*.ipynb"))
    assert len(shown) == 3
    for path in shown:
        assert all(outputs(path)), path.name
        assert outputs(tmp_path / path.name) == outputs(path), path.name


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_is_short_and_shows_its_answer_first(path):
    import nbformat

    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    title, first, *_ = notebook.cells
    assert title.source.startswith("# ") and title.source.splitlines()[0].endswith("?")
    assert first.cell_type == "code" and "text/html" in first.outputs[0].data
    assert len(notebook.cells) <= 12
    assert path.stat().st_size < 20_000
