"""Results built by hand for the report's tests: the published comparison of the pull request, and hostile text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eva.metrics.results import (
    Baseline,
    Ceiling,
    ClassScores,
    Comparison,
    Difference,
    Estimate,
    FlagDifference,
    FlagScores,
    Flip,
    FlipCounts,
    Noise,
    NoiseFloor,
    RepeatScores,
    Slice,
    SliceDifference,
    Spread,
    Summary,
    VerdictWord,
)
from eva.report.blocks import ItemFacts, RuleChange, Turn, Vote
from eva.report.inputs import Arm, Pair

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> @octocat fixes #1 GH-2 owner/repo#3 "
    "https://evil.example/x www.evil.example a@b.example [link](javascript:alert(3)) ![i](http://evil.example/i.png) "
    "`code` ``` $x^2$ :tada: | pipe \\| =cmd() <!-- eva-report:judges --> </details></table> --> "
    "\x1b[31mred\x1b[0m \x07 \u202etxt.exe\u202c \u2066hid\u2069 {{ x }} ${y} &lt;b&gt; \ud800 deadbeefdeadbeef"
)


def estimate(value: float | None, low: float | None = None, high: float | None = None, n: int = 137) -> Estimate:
    return Estimate(value, low, high, n_items=n, n_clusters=112, repeats=3, method="cluster bootstrap")


def summary(
    *,
    accuracy: tuple[float | None, ...] = (96 / 137,) * 3,
    accuracy_spread: Spread | None = None,
    macro_spread: Spread | None = None,
    labels: tuple[str, ...] = ("1", "2", "3"),
    n_items: int = 137,
    n_labelled: int | None = None,
    failures: Mapping[str, int] | None = None,
    **changes: Any,
) -> Summary:
    mean = None if None in accuracy else sum(value or 0 for value in accuracy) / len(accuracy)
    spread = accuracy_spread or Spread(mean, 0.0, accuracy)
    per_class = tuple(ClassScores(label, 45, 44, 0.7, 0.6, 0.65) for label in labels)
    counts = tuple(tuple(20.0 + r - c for c in range(len(labels) + 1)) for r in range(len(labels)))
    repeats = tuple(
        RepeatScores(k, n_items, 96, value, value, len(labels), 1.0, value, per_class, ())
        for k, value in enumerate(accuracy)
    )
    fields: dict[str, Any] = {
        "labels": labels,
        "n_items": n_items,
        "n_labelled": n_items if n_labelled is None else n_labelled,
        "n_clusters": 112,
        "repeats": repeats,
        "accuracy": spread,
        "macro_f1": macro_spread or Spread(0.6514, 0.0026, (0.65, 0.65, 0.654)),
        "accuracy_interval": estimate(spread.mean, 0.619, 0.777),
        "accuracy_interval_t": estimate(spread.mean, 0.62, 0.78),
        "macro_f1_interval": estimate(0.6514, 0.57, 0.73),
        "mean_score": estimate(2.012, 1.9, 2.1),
        "per_class": per_class,
        "confusion": counts,
        "kappa": estimate(0.55, 0.45, 0.65),
        "weighted_kappa": estimate(0.6, 0.5, 0.7),
        "mae": estimate(0.31, 0.25, 0.4),
        "bias": estimate(-0.02, -0.1, 0.06),
        "coverage": estimate(0.9976, 0.99, 1.0),
        "accuracy_readable": 0.7025,
        "failures": {"no_json": 1} if failures is None else failures,
        "failures_by_class": {"1": {"no_json": 1}},
        "failures_by_language": {"en": {"no_json": 1}},
        "over_answered": 0,
        "noise": Noise(estimate(0.96), estimate(0.94), 0.91, 9),
        "baselines": (Baseline("always-1", 0.416, 0.196),),
        "flags": (FlagScores("hallucination", 20.3, 18, estimate(0.148, 0.1, 0.2), 22, 0.8, 0.7),),
        "slices": (Slice("language", "en", 137, 112, estimate(0.7, 0.62, 0.78), estimate(0.65), estimate(2.0)),),
        "ceiling": Ceiling(60, estimate(0.91, 0.81, 0.96, 60), estimate(0.85, 0.74, 0.92, 60), 0.86),
    }
    return Summary(**(fields | changes))


def difference(
    statistic: str,
    before: float | None,
    after: float | None,
    *,
    low: float | None,
    high: float | None,
    verdict: VerdictWord,
    visible: float | None = 0.064,
    **changes: Any,
) -> Difference:
    value = None if before is None or after is None else after - before
    return Difference(
        statistic,
        before,
        after,
        estimate(value, low, high),
        p_value=changes.pop("p_value", 0.62),
        smallest_visible=visible,
        items_needed=changes.pop("items_needed", 9800),
        verdict=verdict,
        within_one_std=changes.pop("within_one_std", True),
        **changes,
    )


def flip(item: str = "rec_07", kind: Any = "broken", severity: float = 2.0, **changes: Any) -> Flip:
    fields: dict[str, Any] = {
        "gold": "3", "before": "3", "after": "1", "before_votes": {"3": 3}, "after_votes": {"1": 2, "3": 1},
    }  # fmt: skip
    return Flip(item, kind, severity=severity, **(fields | changes))


def comparison(*, differences: tuple[Difference, ...] | None = None, **changes: Any) -> Comparison:
    told = differences or (
        difference(
            "accuracy", 96 / 137, 95 / 137, low=-0.032, high=0.018, verdict="cannot tell",
            before_spread=Spread(96 / 137, 0.0), after_spread=Spread(95 / 137, 0.0126438),
        ),
        difference(
            "macro_f1", 0.6514, 0.6439, low=-0.04, high=0.026, verdict="cannot tell", visible=0.071,
            before_spread=Spread(0.6514, 0.0026), after_spread=Spread(0.6439, 0.0199),
        ),
        difference(
            "bias", -0.02, 0.013, low=-0.01, high=0.08, verdict="cannot tell", visible=0.09, higher_is_better=None,
        ),
    )  # fmt: skip
    fields: dict[str, Any] = {
        "n_items": 137,
        "n_clusters": 112,
        "only_before": 0,
        "only_after": 0,
        "differences": told,
        "flips": (
            flip("rec_09", "fixed", 0.5, before="1", after="3", before_votes={"1": 3}, after_votes={"3": 3}),
            flip("rec_07", "broken", 2.0),
            flip("rec_11", "undecided", 1.0, after=None, after_votes={"no_json": 1, "2": 1, "3": 1}),
        ),
        "counts": FlipCounts(1, 1, 0, 1, 0, 0, 134, 1.0),
        "floor": NoiseFloor(
            estimate(0.03, 0.01, 0.05), estimate(0.05, 0.02, 0.08), estimate(0.06, 0.03, 0.09),
            estimate(0.02, -0.01, 0.05), 4.2, 3.1, 2.9, 3.0,
        ),
        "flags": (
            FlagDifference("hallucination", 20.3, 18.0, 18, 16, estimate(-0.017, -0.05, 0.02), 0.8, 0.82, 0.7, 0.7,
                           p_value=0.4, p_adjusted=0.7, verdict="cannot tell"),
        ),
        "slices": (
            SliceDifference("language", "fr", 30, 25, difference("accuracy", 0.7, 0.8, low=-0.1, high=0.3,
                            verdict="cannot tell", family="Holm over 2", p_adjusted=0.5)),
            SliceDifference("language", "hi", 8, 8, difference("accuracy", 0.5, 0.75, low=-0.3, high=0.8,
                            verdict="cannot tell", family="Holm over 2", p_adjusted=0.9)),
        ),
    }  # fmt: skip
    return Comparison(**(fields | changes))


def meta(judge: str = "faithfulness", prompt: str = "v1", **changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "run_id": f"{judge}-{prompt}-0a1b2c",
        "created": "2026-11-02T10:00:00+00:00" if prompt == "v1" else "2026-11-06T11:30:00+00:00",
        "status": "finished",
        "command": f"python run.py judge={judge} prompt={prompt} seeds=3",
        "judge": judge,
        "prompt": prompt,
        "prompt_sha256": "9f86d081884c7d659a2feaa0c55ad015",
        "model": {"name": "claude", "id": "us.anthropic.claude-opus-4-6-v1", "answered": ["claude-opus-4-6"]},
        "language": "en",
        "dataset": {"name": judge, "sha256": "4e07408562bedb8b60ce05c1decfe3ad", "records": 137, "items": 137},
        "git": {"commit": "58acce7aa0", "dirty": False},
        "repeats": 3,
    }
    return fields | changes


def votes(*said: tuple[str | None, str], failure: str | None = None) -> tuple[Vote, ...]:
    return tuple(
        Vote(k, label, None if label is not None else failure or "no_json", reason)
        for k, (label, reason) in enumerate(said)
    )


SPEND = {"calls": 411, "cached": 0, "input_tokens": 1234567, "output_tokens": 45678, "cost_usd": 12.345}


def pair(judge: str = "faithfulness", *, text: str = "", compared: Comparison | None = None, **changes: Any) -> Pair:
    """The faithfulness rows of the published table; `text` is put wherever a record or a reply has a say."""
    reason_before = text or "Every value that the agent states stands in the tool's response."
    reason_after = text or "The agent promised a refund that no policy allows."
    items = {
        name: ItemFacts(name, name, turn_id=2, language="en", domain="airline", gold="3", rules=("glosses",))
        for name in ("rec_07", "rec_09", "rec_11")
    }
    turns = (
        Turn(0, (("assistant", "Hello, how can I help?"),)),
        Turn(1, (("user", "I want to change my flight."), ("tool_call", 'get_booking {"code": "K7Q2MD"}'))),
        Turn(2, (("user", text or "Is there a fee?"), ("assistant", text or "No, we waive it and refund you."))),
    )
    before = Arm(
        meta(judge, "v1"),
        summary(accuracy_spread=Spread(96 / 137, 0.0, (96 / 137,) * 3)),
        SPEND,
        votes={"rec_07": votes(*[("3", reason_before)] * 3), "rec_09": votes(("1", reason_before))},
    )
    after = Arm(
        meta(judge, "v2"),
        summary(accuracy_spread=Spread(95 / 137, 0.0126438), macro_spread=Spread(0.6439, 0.0199)),
        SPEND | {"cost_usd": None},
        votes={
            "rec_07": votes(("1", reason_after), ("1", "The same again."), ("3", "Fine.")),
            "rec_09": votes(("3", "Fine.")),
        },
    )
    changed = (
        RuleChange(
            "sections.rules.glosses", None, text or "A term and its translation said together is a gloss. Flag it."
        ),
        RuleChange(
            "sections.rules.language",
            "Reply in the caller's language. Codes may stay. Names may stay.",
            text or "Reply in the caller's language. One fixed phrase is rated 2. Names may stay.",
        ),
    )
    fields: dict[str, Any] = {
        "before": before,
        "after": after,
        "comparison": compared or comparison(),
        "prompt_changes": changed,
        "items": items,
        "conversations": dict.fromkeys(items, turns),
    }
    return Pair(**(fields | changes))
