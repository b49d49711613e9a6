"""Golden files: every distinct compiled prompt as one readable file, so that a reviewer sees what a change does to the text."""

from __future__ import annotations

from collections.abc import Iterable

from eva.prompts.compile import render_markdown
from eva.prompts.lock import Version

BASE_LANGUAGE, BASE_PIPELINE = "en", "cascade"


def golden_files(versions: Iterable[Version]) -> dict[str, str]:
    """`<judge>/<version>.<language>[.<pipeline>].md` → content.

    English and cascade are always there; another language or pipeline only where its text differs from theirs: a missing file
    says that the text is the same.
    """
    files: dict[str, str] = {}
    for version in versions:
        base = version.compiled[f"{BASE_LANGUAGE}.{BASE_PIPELINE}"]
        for key, compiled in version.compiled.items():
            language, pipeline = key.rsplit(".", 1)
            same_pipeline = version.compiled[f"{BASE_LANGUAGE}.{pipeline}"]
            same_language = version.compiled[f"{language}.{BASE_PIPELINE}"]
            is_base = compiled is base
            differs = compiled.sha256 not in {
                base.sha256,
                same_pipeline.sha256 if compiled is not same_pipeline else "",
            } and (pipeline == BASE_PIPELINE or compiled.sha256 != same_language.sha256)
            if is_base or differs:
                suffix = "" if pipeline == BASE_PIPELINE else f".{pipeline}"
                files[f"{version.judge}/{version.name}.{language}{suffix}.md"] = render_markdown(compiled)
    return dict(sorted(files.items()))
