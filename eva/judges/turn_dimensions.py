"""Unit `turn_dimensions`: several true/false labels a turn, from one reply about the whole conversation.

The reply's `final_judgments` has one entry a turn: {turn, reasoning, <dimension>: bool, …}. Dimensions in `options.passthrough`
are facts of the input (turn taking, from audio timing): never items, never scored; a reply that contradicts one breaks a rule.
`options.calls_dimension` has nothing to rate on turns with neither an expected nor an actual call.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eva.judges.contract import Schema, failed, label_schema, named, object_schema, text_schema
from eva.judges.turn_sheet import actual_calls, expected_calls, turn_ids, turn_taking_failed
from eva.replies import fields
from eva.replies.labels import read_label
from eva.replies.verdict_value import Shape, pick_verdict, unwrap
from eva.types import NOT_APPLICABLE, Failure, Item, JudgeSpec, Record, Reply, Verdict


def items(judge: JudgeSpec, record: Record) -> tuple[Item, ...]:
    return tuple(
        Item(
            item_id=f"{record.record_id}#{turn}/{dimension}",
            record_id=record.record_id,
            cluster=record.cluster,
            turn_id=turn,
            dimension=dimension,
            language=record.language,
            domain=record.domain,
            split=record.split,
            annotations=record.labels.get(f"turn:{turn}/{dimension}", ()),
        )
        for turn in turn_ids(record)
        for dimension in _scored(judge)
    )


def schema(judge: JudgeSpec, record: Record, *, max_chars: int | None) -> Schema:
    """The reply contract: phase one, realignment, call tracking, final judgements. Bounded: the final judgements alone."""
    flag: Schema = {"type": "boolean"}
    label = label_schema(judge.scale)
    final = object_schema(
        {
            "turn": {"type": "integer"},
            judge.reason_field: text_schema(None),
            **dict.fromkeys(judge.dimensions, label),
        }
    )
    if max_chars:
        turns = [
            object_schema({"turn": {"const": turn}, **dict.fromkeys(judge.dimensions, label)})
            for turn in turn_ids(record)
        ]
        exact: Schema = {
            "type": "array",
            "prefixItems": turns,
            "items": False,
            "minItems": len(turns),
            "maxItems": len(turns),
        }
        return object_schema({"final_judgments": exact})
    first = object_schema(
        {
            "turn": {"type": "integer"},
            "initial_tool_use": flag,
            "initial_instruction": flag,
            "initial_kb": flag,
            "notes": text_schema(None),
        }
    )
    number_or_none: Schema = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    tracking = object_schema(
        {
            "function": text_schema(None),
            "expected_turn": number_or_none,
            "actual_turn": number_or_none,
            "status": {"type": "string", "enum": ["on_time", "early", "late", "missing", "unexpected"]},
        }
    )
    return object_schema(
        {
            "phase1_analysis": {"type": "array", "items": first},
            "realignment_notes": text_schema(None),
            "function_call_tracking": {"type": "array", "items": tracking},
            "final_judgments": {"type": "array", "items": final},
        }
    )


def read(judge: JudgeSpec, record: Record, *, reply: Reply) -> tuple[Verdict, ...]:
    """One verdict a turn and scored dimension. Never raises."""
    wanted = items(judge, record)
    picked = pick_verdict(reply, _shape(judge))
    if picked.failure is not None:
        return failed(wanted, repeat=reply.repeat, failure=picked.failure, repaired=picked.repaired)
    by_turn: dict[int | None, list[Any]] = {}
    for entry in _entries(picked.value):
        by_turn.setdefault(_turn(entry), []).append(entry)
    nowhere = by_turn.pop(None, [])
    known = {item.turn_id for item in wanted}
    invented = [turn for turn in by_turn if turn is not None and turn not in known]
    unread = any(fields.has(entry, name) for entry in nowhere for name in _scored(judge))
    extra = (*named("unknown_turn", sorted(invented)), *(("turn_id_unreadable",) if unread else ()))
    verdicts = (
        _read_item(judge, record, item, by_turn.get(item.turn_id, []), repeat=reply.repeat, repaired=picked.repaired)
        for item in wanted
    )
    return tuple(
        replace(verdict, broken_rules=(*extra, *verdict.broken_rules)) if extra else verdict for verdict in verdicts
    )


def _scored(judge: JudgeSpec) -> tuple[str, ...]:
    return tuple(name for name in judge.dimensions if name not in (judge.options.get("passthrough") or ()))


def _turn(entry: Any) -> int | None:
    value = fields.get(entry, "turn")
    return fields.turn_id(fields.get(entry, "turn_id") if value is fields.MISSING else value)


def _entries(value: Any) -> list[Any]:
    final = fields.get(value, "final_judgments")
    if isinstance(final, list):
        return final
    if isinstance(value, dict) and _turn(value) is not None:
        return [value]
    if isinstance(value, dict):
        lists = [inner for inner in unwrap(value) if isinstance(inner, list)]
        return lists[0] if lists else []
    return value if isinstance(value, list) else []


def _shape(judge: JudgeSpec) -> Shape:
    def accepts(value: Any) -> bool:
        return any(
            _turn(entry) is not None and any(fields.has(entry, name) for name in _scored(judge))
            for entry in _entries(value)
        )

    def complete(value: Any) -> bool:
        return accepts(value) and fields.has(value, "final_judgments")

    def part_of(value: Any) -> int | None:
        return None if fields.has(value, "final_judgments") else _turn(value)

    return Shape(accepts=accepts, complete=complete, part_of=part_of)


def _read_item(
    judge: JudgeSpec, record: Record, item: Item, entries: list[Any], *, repeat: int, repaired: bool
) -> Verdict:
    turn, dimension = item.turn_id or 0, item.dimension or ""
    label: str | Failure = Failure.SKIPPED
    broken: list[str] = []
    if entries:
        labels = {_label(judge, entry, dimension) for entry in entries}
        label = labels.pop() if len(labels) == 1 else Failure.REPEATED
        broken += ["turn_repeated"] if len(entries) > 1 else []
        broken += _passthrough_rules(judge, record, entries[-1], turn)
    nothing_to_rate = dimension == judge.options.get("calls_dimension") and not (
        expected_calls(record, turn) or actual_calls(record, turn)
    )
    stated = label if isinstance(label, str) else None
    if nothing_to_rate:
        label = NOT_APPLICABLE
    failure = label if isinstance(label, Failure) else None
    return Verdict(
        item_id=item.item_id,
        record_id=item.record_id,
        repeat=repeat,
        label=None if failure is not None else str(label),
        failure=failure,
        reason=fields.text(fields.get(entries[-1], judge.reason_field)) if entries else "",
        model_label=stated,
        broken_rules=tuple(broken),
        repaired=repaired,
    )


def _label(judge: JudgeSpec, entry: Any, dimension: str) -> str | Failure:
    value = fields.get(entry, dimension)
    if value is fields.MISSING:
        return Failure.NO_VERDICT
    return Failure.AMBIGUOUS if value is fields.CONFLICT else read_label(value, judge.scale)


def _passthrough_rules(judge: JudgeSpec, record: Record, entry: Any, turn: int) -> list[str]:
    expected = not turn_taking_failed(record, turn)
    return [
        f"not_copied_from_input:{name}"
        for name in judge.options.get("passthrough") or ()
        if fields.boolean(fields.get(entry, name)) is not expected
    ]
