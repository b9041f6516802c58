"""Runs the notebooks from top to bottom and stores their outputs, as committed: ``python refresh.py [NAME ...]``.

What differs from one run to the next without meaning anything (times, versions, names of kernels, progress) is not
stored.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).resolve().parent


def refresh(path: Path) -> None:
    """Runs one notebook and writes it back."""
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    nbformat.write(notebook, path)


if __name__ == "__main__":
    names = sys.argv[1:] or [path.stem for path in sorted(FOLDER.glob("*.ipynb"))]
    for name in names:
        refresh(FOLDER / f"{name}.ipynb")
