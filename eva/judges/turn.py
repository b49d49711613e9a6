"""Unit `turn`: one label a turn of the rated speaker. The reply is a list of {turn_id, reason, flags, label}.

A turn is matched by its id only. A turn that the reply leaves out is a failure of that turn; a turn that it rates twice,
differently, too; a turn that it invents is reported and ignored. `options.no_flags_at: L`: a turn with label L has no flags.
`options.entities_field`: a turn whose value there is false has nothing to rate. Where people labelled whole records, the
record is the item and its verdict the worst of its turns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from eva.judges.contract import (
    Schema,
    failed,
    heard_nothing,
    known_flags,
    label_schema,
    named,
    object_schema,
    text_schema,
)
from eva.replies import fields
from eva.replies.labels import read_label
from eva.replies.verdict_value import Shape, pick_verdict, unwrap
from eva.types import NOT_APPLICABLE, Failure, Item, JudgeSpec, Record, Reply, Verdict

WHOLE: Final = "record"
"""Label key of a record that people rated as a whole."""


def items(judge: JudgeSpec, record: Record) -> tuple[Item, ...]:
    """The turns in which the rated speaker says something, and those that a person labelled; or, where people labelled the
    record as a whole, the record."""
    return (_whole(record),) if WHOLE in record.labels else _turns(judge, record)


def _whole(record: Record) -> Item:
    return Item(
        item_id=record.record_id,
        record_id=record.record_id,
        cluster=record.cluster,
        language=record.language,
        domain=record.domain,
        split=record.split,
        annotations=record.labels[WHOLE],
    )


def _spoken(judge: JudgeSpec, record: Record) -> list[int]:
    return sorted({event.turn_id for event in record.events if event.type == judge.speaker})


def _turns(judge: JudgeSpec, record: Record) -> tuple[Item, ...]:
    spoken = set(_spoken(judge, record))
    labelled = {int(key.removeprefix("turn:")) for key in record.labels if key.startswith("turn:") and "/" not in key}
    return tuple(
        Item(
            item_id=f"{record.record_id}#{turn}",
            record_id=record.record_id,
            cluster=record.cluster,
            turn_id=turn,
            language=record.language,
            domain=record.domain,
            split=record.split,
            annotations=record.labels.get(f"turn:{turn}", ()),
        )
        for turn in sorted(spoken | labelled)
    )


def schema(judge: JudgeSpec, record: Record, *, max_chars: int | None) -> Schema:
    """The reply contract. Bounded (small models): the label first, and exactly the record's turns in order."""
    label = {judge.label_field: label_schema(judge.scale, nullable=judge.scale.allows_not_applicable and not max_chars)}
    reason = {judge.reason_field: text_schema(max_chars)}
    flags = {judge.flags_field: _flags_schema(judge, max_chars)} if judge.flags_field else {}
    entities = {str(judge.options["entities_field"]): {"type": "boolean"}} if "entities_field" in judge.options else {}
    body = {**entities, **label, **flags, **reason} if max_chars else {**entities, **reason, **flags, **label}
    if not max_chars:
        one = object_schema({"turn_id": {"type": "integer"}, **body})
        return object_schema({"turns": {"type": "array", "items": one}})
    # Spoken turns only: which turns people labelled is label-side and must not change a request.
    turns = [object_schema({"turn_id": {"const": turn}, **body}) for turn in _spoken(judge, record)]
    return {"type": "array", "prefixItems": turns, "items": False, "minItems": len(turns), "maxItems": len(turns)}


def read(judge: JudgeSpec, record: Record, *, reply: Reply) -> tuple[Verdict, ...]:
    """One verdict an item, in the items' order. Never raises."""
    verdicts = _read_turns(judge, record, reply=reply)
    return (_worst(judge, record, verdicts, repeat=reply.repeat),) if WHOLE in record.labels else verdicts


def _worst(judge: JudgeSpec, record: Record, verdicts: tuple[Verdict, ...], *, repeat: int) -> Verdict:
    """A record's verdict from its turns: the worst label; a turn without a verdict leaves it open unless the worst is known."""
    order = judge.scale.labels
    rated = [verdict for verdict in verdicts if verdict.label in order]
    failed_turns = [verdict for verdict in verdicts if verdict.failure is not None]
    lowest = min(rated, key=lambda verdict: order.index(str(verdict.label)), default=None)
    whole = _whole(record)
    if failed_turns and (lowest is None or lowest.label != order[0]):
        return replace(failed_turns[0], item_id=whole.item_id)
    if lowest is None:
        return _verdict(whole, NOT_APPLICABLE, repeat=repeat, repaired=any(verdict.repaired for verdict in verdicts))
    return replace(lowest, item_id=whole.item_id, reason=f"turn {lowest.item_id.rsplit('#', 1)[-1]}: {lowest.reason}")


def _read_turns(judge: JudgeSpec, record: Record, *, reply: Reply) -> tuple[Verdict, ...]:
    wanted = _turns(judge, record)
    picked = pick_verdict(reply, _shape(judge))
    if picked.failure is not None:
        return failed(wanted, repeat=reply.repeat, failure=picked.failure, repaired=picked.repaired)
    by_turn: dict[int | None, list[Any]] = {}
    for entry in _entries(picked.value):
        by_turn.setdefault(_turn(entry), []).append(entry)
    nowhere = by_turn.pop(None, [])
    known = {item.turn_id for item in wanted}
    invented = [turn for turn in by_turn if turn is not None and turn not in known and _is_rated(judge, by_turn[turn])]
    extra = (*named("unknown_turn", sorted(invented)), *(("turn_id_unreadable",) if _is_rated(judge, nowhere) else ()))
    spoken = set(_spoken(judge, record))
    return tuple(
        _read_turn(
            judge, item, by_turn.get(item.turn_id, []), repeat=reply.repeat, repaired=picked.repaired, extra=extra
        )
        if item.turn_id in spoken or item.turn_id in by_turn
        # Leaving out a turn in which the rated speaker is silent says the same as null.
        else _verdict(item, NOT_APPLICABLE, repeat=reply.repeat, repaired=picked.repaired, broken=extra)
        for item in wanted
    )


def _flags_schema(judge: JudgeSpec, max_chars: int | None) -> Schema:
    flags: Schema = {"type": "array", "items": {"type": "string", "enum": list(judge.flags)}}
    return {**flags, "maxItems": 2} if max_chars else flags


def _entries(value: Any) -> list[Any]:
    if isinstance(value, dict) and fields.has(value, "turn_id"):
        return [value]
    if isinstance(value, dict):
        lists = [inner for inner in unwrap(value) if isinstance(inner, list)]
        return lists[0] if lists else []
    return value if isinstance(value, list) else []


def _shape(judge: JudgeSpec) -> Shape:
    def accepts(value: Any) -> bool:
        entries = _entries(value)
        return any(fields.has(entry, "turn_id") and fields.has(entry, judge.label_field) for entry in entries)

    def complete(value: Any) -> bool:
        entries = _entries(value)
        return bool(entries) and all(
            fields.has(entry, "turn_id")
            and fields.has(entry, judge.label_field)
            and fields.has(entry, judge.reason_field)
            for entry in entries
        )

    def part_of(value: Any) -> int | None:
        return _turn(value) if isinstance(value, dict) and fields.has(value, "turn_id") else None

    return Shape(accepts=accepts, complete=complete, part_of=part_of)


def _turn(entry: Any) -> int | None:
    return fields.turn_id(fields.get(entry, "turn_id"))


def _is_rated(judge: JudgeSpec, entries: list[Any]) -> bool:
    """A label of the scale; `null` for a turn without content of the rated speaker is what the contract asks for."""
    return any(_label(judge, entry) in judge.scale.labels for entry in entries)


def _read_turn(
    judge: JudgeSpec, item: Item, entries: list[Any], *, repeat: int, repaired: bool, extra: tuple[str, ...]
) -> Verdict:
    if not entries:
        return _verdict(item, Failure.SKIPPED, repeat=repeat, repaired=repaired, broken=extra)
    labels = {_label(judge, entry) for entry in entries}
    broken = list(extra) + (["turn_repeated"] if len(entries) > 1 else [])
    entry = entries[-1]
    reason = fields.text(fields.get(entry, judge.reason_field))
    label = labels.pop() if len(labels) == 1 else Failure.REPEATED
    if heard_nothing(judge, reason):
        label = Failure.NO_AUDIO
    flags, unknown = (
        known_flags(fields.texts(fields.get(entry, judge.flags_field)), judge) if judge.flags_field else ((), ())
    )
    broken += unknown
    if flags and label == str(judge.options.get("no_flags_at")):
        broken.append(f"flags_at_{label}:{'+'.join(flags)}")
        flags = ()
    if label == NOT_APPLICABLE:
        flags = ()
    return _verdict(item, label, repeat=repeat, repaired=repaired, broken=tuple(broken), flags=flags, reason=reason)


def _label(judge: JudgeSpec, entry: Any) -> str | Failure:
    entities = judge.options.get("entities_field")
    if entities and fields.boolean(fields.get(entry, str(entities))) is False:
        return NOT_APPLICABLE if judge.scale.allows_not_applicable else Failure.ABSTAINED
    value = fields.get(entry, judge.label_field)
    if value is fields.MISSING:
        return Failure.NO_VERDICT
    return Failure.AMBIGUOUS if value is fields.CONFLICT else read_label(value, judge.scale)


def _verdict(
    item: Item,
    label: str | Failure,
    *,
    repeat: int,
    repaired: bool,
    broken: tuple[str, ...] = (),
    flags: tuple[str, ...] = (),
    reason: str = "",
) -> Verdict:
    failure = label if isinstance(label, Failure) else None
    return Verdict(
        item_id=item.item_id,
        record_id=item.record_id,
        repeat=repeat,
        label=None if failure is not None else str(label),
        failure=failure,
        flags=flags if failure is None else (),
        reason=reason,
        model_label=None if failure is not None else str(label),
        broken_rules=broken,
        repaired=repaired,
    )
