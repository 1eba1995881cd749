"""veRL runs: consoles of every version from 0.1 on, the file logger, and folders that hold them."""

from dataclasses import replace

from ...source import Format
from ..keymap import VERL, tells_of
from .folder import open_console, open_file_logger, open_folder
from .recognise import console_score, file_logger_score, folder_score

FILE_TELLS = tells_of(
    VERL,
    steps="`step`",
    tokens="means × rows, `perf/total_num_tokens`",
    clip="where the log can prove it",
    time="`timing_s/*`, by what the version leaves out",
    gpus="from the throughput",
)
CONSOLE_TELLS = replace(
    FILE_TELLS,
    steps="`step:N`",
    total="progress bar, printed configuration",
    time="`timing_s/*`, checked against the bar",
    gpus="printed configuration, throughput",
    config="printed configuration, overrides, `.hydra/`",
    state="end of the driver, traceback",
)
CONSOLE = Format(name="veRL console", score=console_score, open=open_console, tells=CONSOLE_TELLS)
FILE_LOGGER = Format(
    name="veRL file logger", score=file_logger_score, open=open_file_logger, tells=FILE_TELLS
)
FOLDER = Format(name="veRL run folder", score=folder_score, open=open_folder, tells=CONSOLE_TELLS)
