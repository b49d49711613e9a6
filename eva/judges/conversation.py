"""Unit `conversation`: one label for the whole record, from dimensions where the judge has some.

With dimensions the reply is {label_field, dimensions: {name: {evidence, flagged, rating}}} and the label is what the judge's rule
gives from the dimensions (`options.overall: min`; `options.worst_if_flagged: n` makes it the worst label from n flags on). What
the model stated itself is kept beside it. Without dimensions the reply is {label_field, reason_field}.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eva.judges.contract import Schema, failed, heard_nothing, label_schema, object_schema, text_schema
from eva.replies import fields
from eva.replies.labels import read_label
from eva.replies.verdict_value import Shape, pick_verdict
from eva.types import NOT_APPLICABLE, Failure, Item, JudgeSpec, Record, Reply, Verdict


def items(judge: JudgeSpec, record: Record) -> tuple[Item, ...]:
    return (
        Item(
            item_id=record.record_id,
            record_id=record.record_id,
            cluster=record.cluster,
            language=record.language,
            domain=record.domain,
            split=record.split,
            annotations=record.labels.get("record", ()),
        ),
    )


def schema(judge: JudgeSpec, record: Record, *, max_chars: int | None) -> Schema:
    """The reply contract. Bounded (small models, which run away in long texts): the label first, a bare rating a dimension and
    one piece of evidence; else each dimension's evidence, flag and rating, then the label."""
    label = {judge.label_field: label_schema(judge.scale)}
    if not judge.dimensions:
        reason = {judge.reason_field: text_schema(max_chars)}
        return object_schema({**label, **reason} if max_chars else {**reason, **label})
    rating = label_schema(judge.scale)
    if max_chars:
        short = object_schema(dict.fromkeys(judge.dimensions, rating))
        return object_schema({**label, "dimensions": short, "evidence": text_schema(max_chars)})
    one = object_schema({"evidence": text_schema(None), "flagged": {"type": "boolean"}, "rating": rating})
    return object_schema({"dimensions": object_schema(dict.fromkeys(judge.dimensions, one)), **label})


def read(judge: JudgeSpec, record: Record, *, reply: Reply) -> tuple[Verdict, ...]:
    """One verdict. Never raises."""
    picked = pick_verdict(reply, _shape(judge))
    if picked.failure is not None:
        return failed(items(judge, record), repeat=reply.repeat, failure=picked.failure, repaired=picked.repaired)
    read_one = _read_dimensions if judge.dimensions and fields.has(picked.value, "dimensions") else _read_label
    verdict = read_one(judge, record, value=picked.value, repeat=reply.repeat, repaired=picked.repaired)
    if heard_nothing(judge, verdict.reason):
        return failed(items(judge, record), repeat=reply.repeat, failure=Failure.NO_AUDIO, repaired=picked.repaired)
    return (verdict,)


def _shape(judge: JudgeSpec) -> Shape:
    def accepts(value: Any) -> bool:
        return fields.has(value, judge.label_field) or (bool(judge.dimensions) and fields.has(value, "dimensions"))

    def complete(value: Any) -> bool:
        dimensions = fields.get(value, "dimensions")
        return fields.has(value, judge.label_field) and all(fields.has(dimensions, name) for name in judge.dimensions)

    return Shape(accepts=accepts, complete=complete)


def _read_label(judge: JudgeSpec, record: Record, *, value: Any, repeat: int, repaired: bool) -> Verdict:
    stated = fields.get(value, judge.label_field)
    label = Failure.AMBIGUOUS if stated is fields.CONFLICT else read_label(stated, judge.scale)
    reason = fields.text(fields.get(value, judge.reason_field)) or fields.text(fields.get(value, "explanation"))
    return Verdict(
        item_id=record.record_id,
        record_id=record.record_id,
        repeat=repeat,
        label=None if isinstance(label, Failure) else label,
        failure=label if isinstance(label, Failure) else None,
        reason=reason,
        model_label=None if isinstance(label, Failure) else label,
        broken_rules=("dimensions_missing",) if judge.dimensions else (),
        repaired=repaired,
    )


def _read_dimensions(judge: JudgeSpec, record: Record, *, value: Any, repeat: int, repaired: bool) -> Verdict:
    given = fields.get(value, "dimensions")
    stated_value = fields.get(value, judge.label_field)
    stated = _stated(stated_value, judge)
    labels, broken, failure = _dimension_labels(judge, given)
    flags = tuple(name for name in judge.dimensions if _flagged(judge, given, name, labels))
    broken += _flag_rules(judge, labels, flags)
    label = _label(judge, labels, stated, n_flags=len(flags)) if failure is None else None
    if failure is None and label is None:
        failure = Failure.NO_VERDICT
    if label is not None and stated != label:
        broken.append("overall_unreadable" if stated is None else "overall_is_not_the_rule")
    return Verdict(
        item_id=record.record_id,
        record_id=record.record_id,
        repeat=repeat,
        label=label,
        failure=failure,
        flags=flags,
        reason=_reason(judge, given, labels, flags) or fields.text(fields.get(value, "evidence")),
        model_label=stated,
        broken_rules=tuple(broken),
        dimensions=labels,
        repaired=repaired,
    )


def _stated(value: Any, judge: JudgeSpec) -> str | None:
    if value is fields.MISSING or value is fields.CONFLICT:
        return None
    label = read_label(value, judge.scale)
    return None if isinstance(label, Failure) else label


def _label(judge: JudgeSpec, labels: Mapping[str, str], stated: str | None, *, n_flags: int) -> str | None:
    """What the judge's rule gives. Where dimensions are left out, the stated overall stands for them: it must not be better than
    those given. Without either there is a label only if those given have reached the worst one, which the rest cannot change."""
    if len(labels) == len(judge.dimensions):
        return _overall(judge, [*labels.values()], n_flags=n_flags)
    known = [*labels.values(), *([stated] if stated is not None else [])]
    label = _overall(judge, known, n_flags=n_flags)
    return label if stated is not None or label == judge.scale.labels[0] else None


def _dimension_labels(judge: JudgeSpec, given: Any) -> tuple[dict[str, str], list[str], Failure | None]:
    labels: dict[str, str] = {}
    broken: list[str] = []
    failure = Failure.AMBIGUOUS if given is fields.CONFLICT else None
    for name in judge.dimensions:
        dimension = fields.get(given, name)
        value = fields.get(dimension, "rating") if isinstance(dimension, dict) else dimension
        if value is fields.MISSING:
            broken.append(f"dimension_missing:{name}")
        elif value is fields.CONFLICT:
            failure = failure or Failure.AMBIGUOUS
        elif isinstance(label := read_label(value, judge.scale), Failure):
            failure = failure or label
        else:
            labels[name] = label
    return labels, broken, failure


def _flagged(judge: JudgeSpec, given: Any, name: str, labels: Mapping[str, str]) -> bool:
    """As the reply says; where it gives a bare rating, whatever is below the best label."""
    dimension = fields.get(given, name)
    if isinstance(dimension, dict):
        return bool(fields.boolean(fields.get(dimension, "flagged")))
    return labels.get(name, NOT_APPLICABLE) not in (judge.scale.labels[-1], NOT_APPLICABLE)


def _flag_rules(judge: JudgeSpec, labels: Mapping[str, str], flags: tuple[str, ...]) -> list[str]:
    """A dimension is flagged if and only if it is rated below the best; where nothing is to be rated, nothing is flagged."""
    fine = (judge.scale.labels[-1], NOT_APPLICABLE)
    return [f"flag_against_rating:{name}" for name, label in labels.items() if (name in flags) == (label in fine)]


def _overall(judge: JudgeSpec, labels: list[str], *, n_flags: int) -> str | None:
    if not labels:
        return None
    scale = judge.scale.labels
    worst_if = judge.options.get("worst_if_flagged")
    if worst_if is not None and n_flags >= int(worst_if):
        return scale[0]
    return min((label for label in labels if label != NOT_APPLICABLE), key=scale.index, default=NOT_APPLICABLE)


def _reason(judge: JudgeSpec, given: Any, labels: Mapping[str, str], flags: tuple[str, ...]) -> str:
    """Evidence of the dimensions that decide: the flagged ones, else those rated lowest."""
    rated = [label for label in labels.values() if label != NOT_APPLICABLE]
    lowest = min(rated, key=judge.scale.labels.index, default=None)
    best = judge.scale.labels[-1]
    deciding = [
        name
        for name in judge.dimensions
        if name in flags or (lowest not in (None, best) and labels.get(name) == lowest)
    ]
    lines = [(name, fields.text(fields.get(fields.get(given, name), "evidence"))) for name in deciding]
    return "\n".join(f"{name}: {evidence}" for name, evidence in lines if evidence)
