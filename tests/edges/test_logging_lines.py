"""What the tool logs is seen, once, and holds no key."""

from __future__ import annotations

import logging

import pytest

from eva.edges.logging_lines import show_log_lines


def test_log_lines_are_shown_once_and_redacted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("eva"), "handlers", [])
    show_log_lines()
    show_log_lines()
    logging.getLogger("eva.edges.x").warning("GET https://x/v1?key=AIzaSyTESTTESTTESTTESTTESTTESTTESTTEST refused")

    shown = capsys.readouterr().err
    assert shown == "warning: GET https://x/v1?key=[redacted] refused\n"
