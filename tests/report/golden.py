"""`python -m tests.report.golden` rewrites the golden reports; read the diff."""

from __future__ import annotations

from pathlib import Path

from eva.report import markdown, sections, terminal
from tests.report import made

FOLDER = Path(__file__).resolve().parent.parent / "golden" / "reports"


def files() -> dict[str, str]:
    """Golden reports by name: the pull request's comparison for comment and terminal, and hostile text in a comment."""
    pairs = [made.pair()]
    report = sections.comparison_report(pairs)
    hostile = sections.comparison_report([made.pair(text=made.HOSTILE), made.pair("conciseness")])
    return {
        "comparison.md": markdown.render(report, key="judges", full_report="https://example.org/report"),
        "comparison.txt": terminal.render(report, detail="full"),
        "run.txt": terminal.render(sections.run_report(pairs[0].after, comparison=pairs[0])),
        "hostile.md": markdown.render(hostile, key="judges"),
    }


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
