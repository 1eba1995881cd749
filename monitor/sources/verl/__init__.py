"""veRL runs: consoles of every version from 0.1 on, the file logger, and folders that hold them."""

from ...source import Format
from .folder import open_console, open_file_logger, open_folder
from .recognise import console_score, file_logger_score, folder_score

CONSOLE = Format(name="veRL console", score=console_score, open=open_console)
FILE_LOGGER = Format(name="veRL file logger", score=file_logger_score, open=open_file_logger)
FOLDER = Format(name="veRL run folder", score=folder_score, open=open_folder)
