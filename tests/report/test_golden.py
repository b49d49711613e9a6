"""Whole reports, to be read in a diff: what a user sees changes only on purpose."""

from __future__ import annotations

import pytest

from tests.report.golden import FOLDER, files


@pytest.mark.parametrize("name", sorted(files()))
def test_golden_report(name: str) -> None:
    """Byte for byte; `python -m tests.report.golden` rewrites them."""
    assert (FOLDER / name).read_bytes() == files()[name].encode()
