"""What all tests share: no network, no state outside the test's own folder, real data only where it lies beside the repo."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def shared_data() -> Path:
    """The real data beside the repository; tests that need it are skipped where it is absent."""
    path = ROOT.parent / "shared" / "data"
    if not path.is_dir():
        pytest.skip(f"real data is not here: {path.name} beside the repository's folder is absent")
    return path
