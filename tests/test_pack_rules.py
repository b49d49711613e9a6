"""Packs in the report and in the gate: the gravest item decides."""

from __future__ import annotations

from dataclasses import replace

from eva.gate import combine
from eva.metrics.results_moved import PackFinding
from eva.pack_rules import pack_rules
from eva.report import html, markdown
from eva.report.blocks import Report, Section, line
from eva.report.packs import packs_blocks, packs_title
from tests.report.made import HOSTILE

GOOD = PackFinding("glosses", "a#1", "0", "become", "pass", 3, 3, 3, "1", "0", "0 in 3 of 3 repeats, 3 needed")
BAD = replace(GOOD, item_id="b#2", outcome="fail", right=0, after="1", told="0 in 0 of 3 repeats, 3 needed; mostly 1")
OPEN = replace(GOOD, pack="plain", item_id="c#3", outcome="cannot tell", told="is not in the after run")


def text_of(told: tuple[object, ...]) -> str:
    return "".join(run if isinstance(run, str) else str(getattr(run, "text", "")) for run in told)


def page(found: list[PackFinding]) -> Report:
    return Report(line("t"), (line("o"),), (Section("packs", packs_title(found), packs_blocks(found)),))


def test_one_rule_a_pack() -> None:
    first, second = pack_rules([GOOD, BAD, OPEN])

    assert (first.name, first.outcome) == ("pack glosses", "fail")
    assert text_of(first.told) == "1 of 2 items as they should be; b#2: 0 in 0 of 3 repeats, 3 needed; mostly 1"
    assert (second.name, second.outcome) == ("pack plain", "cannot tell")
    assert combine([first, second]).exit_code == 1
    assert combine(pack_rules([GOOD, OPEN])).exit_code == 2
    assert combine(pack_rules([GOOD])).exit_code == 0
    assert pack_rules([]) == ()
    many = pack_rules([replace(BAD, item_id=f"i{n}") for n in range(9)])[0]
    assert text_of(many.told).endswith("; and 4 more")


def test_the_report_tells_failed_items_first() -> None:
    text = markdown.render(page([GOOD, BAD, OPEN]))

    assert "1 of 3 as they should be" in text
    assert text.index("b#2") < text.index("c#3") < text.index("a#1")
    assert packs_blocks([]) == ()


def test_hostile_ids_and_notes_stay_text() -> None:
    assert "<script>alert" not in html.render(page([replace(BAD, item_id=HOSTILE, note=HOSTILE, pack=HOSTILE)]))
