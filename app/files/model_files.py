"""Read model files: JSON, or workload files of AICB."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom.app.files.local_files import UnusableFile, parse_json, read_text
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.formats.aicb_workload import aicb_model, is_workload

if TYPE_CHECKING:
    from topoloom.app.config import Settings


def read_model_file(path: Path, settings: "Settings") -> Any:
    """Return the document of a model file.

    Raises:
        UnusableFile: The file is neither JSON nor a workload file.
    """
    text = read_text(path, settings)
    if not is_workload(text):
        return parse_json(path, text)
    try:
        return aicb_model(text)
    except NoSchedule as error:
        raise UnusableFile(path, error.rule) from None
