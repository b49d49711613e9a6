"""Names that MLflow takes: one reversible slug for labels, flags and slices, and the names of experiments and prompts.

MLflow 3.17 allows letters, digits and `_ - . / :` and space in metric names (`:` not on Windows): `class=2/f1` is
refused, and one bad name loses its whole batch. So a class is `class.2/f1`, a language `lang.fr/accuracy`.
"""

from __future__ import annotations

import hashlib
import re

LONGEST = 120
"""Characters of one slug; keys may have 250 in all."""

_ALLOWED = re.compile(r"[\w. \-]")
_LOOKS_ESCAPED = re.compile(r"-(?=u(?:-|[0-9a-f]{4}))")
_ESCAPED = re.compile(r"-u([0-9a-f]{4,6})?-")
_EMPTY = "-u-"


SWEEPS = "eva/sweeps"
"""The experiment of sweeps' summary runs."""


def slug(text: str) -> str:
    """`text` as part of a metric name. Reversible by `unslug` up to LONGEST characters, so no two texts share one.

    A character that MLflow refuses becomes `-u<hex>-`; an empty text becomes `-u-`. Longer slugs are cut and end in
    eight characters of the text's sha256; the full text is in the run folder's summary.
    """
    if not text:
        return _EMPTY
    guarded = {match.start() for match in _LOOKS_ESCAPED.finditer(text)}
    out = "".join(
        char if _ALLOWED.fullmatch(char) and place not in guarded else f"-u{ord(char):04x}-"
        for place, char in enumerate(text)
    )
    if len(out) <= LONGEST:
        return out
    return f"{out[: LONGEST - 9]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def unslug(name: str) -> str:
    """The text behind a slug that was not cut."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)) if match[1] else "", name)


def experiment_name(judge: str) -> str:
    """One experiment a judge."""
    return f"eva/{judge}"


def review_name(judge: str) -> str:
    """The experiment of the blind review set: apart from the runs, where every trace shows the judge's verdict."""
    return f"eva/{judge}/review"


def prompt_name(judge: str, language: str = "en", pipeline: str = "cascade") -> str:
    """The name in the prompt registry: `[A-Za-z0-9-_.]` only.

    Texts that are versions of one another share a name, so that two of them can be set side by side: English is plain
    `<judge>`, other languages and pipelines have names of their own.
    """
    parts = [judge] + ([language] if language != "en" else []) + ([pipeline] if pipeline != "cascade" else [])
    return ".".join(re.sub(r"[^A-Za-z0-9_-]", "_", part) for part in parts)


def run_name(prompt: str, model: str, language: str, dataset: str, repeats: int) -> str:
    """The name in the run table: version first, always the same order, so that it sorts by name."""
    return f"{prompt} · {model} · {language} · {dataset} ×{repeats}"
