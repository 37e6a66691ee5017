"""Execute the notebooks of this folder, and write their outputs: python execute.py."""

from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

NOTEBOOKS = sorted(Path(__file__).parent.glob("*.ipynb"))


def executed(path: Path) -> nbformat.NotebookNode:
    """Return a notebook with fresh outputs; tables stay without their long plain text."""
    notebook = nbformat.read(path, as_version=4)
    # Files as sockets of the kernel: ports could be taken in the meantime.
    kernel = AsyncKernelManager(kernel_name="python3", transport="ipc")
    NotebookClient(notebook, km=kernel, timeout=300, record_timing=False).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", ()):
                output.data.pop("text/plain", None)
    notebook.metadata.language_info = {"name": "python"}
    return notebook


if __name__ == "__main__":
    for path in NOTEBOOKS:
        nbformat.write(executed(path), path)
