"""Launch files: an order of ranks that follows the cables, written for launchers and libraries."""

from topoloom.synth.launch.files import LAUNCH_FILES, launch_file
from topoloom.synth.launch.launch import Launch, launch_of

__all__ = ["LAUNCH_FILES", "Launch", "launch_file", "launch_of"]
