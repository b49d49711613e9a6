"""Our own log lines on the terminal: short, without a level, never with a credential."""

from __future__ import annotations

import logging
import sys

from eva.edges.secrets import redact


class _Redacted(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = redact(super().format(record))
        return f"warning: {text}" if record.levelno >= logging.WARNING else text


def show_log_lines() -> None:
    """Send what `eva` logs (weights being fetched, waiting for a provider) to stderr; once a process."""
    logger = logging.getLogger("eva")
    if logger.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Redacted("%(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
