"""A report as one HTML file: no network, keyboard-usable, light and dark, and no script from data.

The Content-Security-Policy allows the page's own script and style by their hashes and nothing else; data stands as JSON
in an element that is never executed, and the script turns it into text nodes only.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Final

from eva.report import untrusted
from eva.report.blocks import Flips, Report, Section
from eva.report.html_blocks import block, words
from eva.report.html_flips import flips_data

_DIALOG: Final = (
    '<dialog id="flip" aria-labelledby="flip-title"><div class="bar-top"><h2 id="flip-title"></h2>'
    '<button type="button" class="previous">← previous</button><button type="button" class="next">next →</button>'
    '<button type="button" class="judged-turn">judged turn ↓</button>'
    '<button type="button" class="close">close (Esc)</button></div><div class="inside"></div></dialog>'
)


def render(report: Report) -> str:
    """The whole page. Same report, same bytes."""
    style, script = _asset("report.css"), _asset("report.js")
    flips = _flips(report)
    title = untrusted.html("".join(run if isinstance(run, str) else run.text for run in report.title), 200)
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n"
    )
    lead = f"<h1>{words(report.title)}</h1>\n" + "\n".join(
        f'<p class="outcome">{words(told)}</p>' for told in report.outcome
    )
    place = {id(each): n for n, each in enumerate(flips)}
    parts = "\n".join(_section(section, place) for section in report.sections)
    data = untrusted.json_for_script(flips_data(flips))
    return (
        f"{head}<body>\n<header>\n{lead}\n{_navigation(report.sections)}\n</header>\n<main>\n{parts}\n</main>\n{_DIALOG}\n"
        f'<script id="data" type="application/json">{data}</script>\n<script>{script}</script>\n</body>\n</html>\n'
    )


def _section(section: Section, place: Mapping[int, int]) -> str:
    """`place`: which flips block this is, by identity: two judges may have equal ones."""
    inside = "\n".join(block(each, place.get(id(each), 0)) for each in section.blocks)
    heading = "" if section.key == "headline" else f"<h2>{words(section.title)}</h2>\n"
    return f'<section id="{section.key}">\n{heading}{inside}\n</section>'


def _navigation(sections: Sequence[Section]) -> str:
    links = (f'<a href="#{part.key}">{words(part.title)}</a>' for part in sections if part.key != "headline")
    return f'<nav aria-label="Parts">{"".join(links)}</nav>'


def _flips(report: Report) -> tuple[Flips, ...]:
    return tuple(each for section in report.sections for each in section.blocks if isinstance(each, Flips))


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    """The page's own style or script: a part of the program, read from the package."""
    return resources.files("eva.report").joinpath("assets", name).read_text(encoding="utf-8")
