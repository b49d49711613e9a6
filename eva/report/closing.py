"""The parts of a report about the runs themselves: which they are, what they cost, how to make them again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from eva.metrics.results import VERDICT_MEANINGS
from eva.report import numbers, words
from eva.report.blocks import Block, Bullets, Column, Command, Line, Quoted, Strong, Table, line
from eva.report.inputs import Arm, Pair

SPEND_COLUMNS = ("Run", "Calls", "From the store", "Input tokens", "Kept prefix", "Output tokens", "Cost")
SPEND_NOTE = (
    "Calls answered from the store cost nothing now. “Kept prefix” is the share of the input tokens that the model had read "
    "in an earlier call and kept."
)


def runs_blocks(arms: Iterable[tuple[str, Arm]]) -> tuple[Block, ...]:
    """One row a run: what it is made of, down to the hashes, and when it was made; below, the ids to copy."""
    told = list(arms)
    columns = tuple(map(Column, ("Run", "Prompt", "Model answered", "Dataset", "Repeats", "Created", "Commit")))
    return Table(columns, tuple(_run_row(side, arm.meta) for side, arm in told)), ids_block(told)


def ids_block(arms: Iterable[tuple[str, Arm]]) -> Bullets:
    """Run ids in a list of their own: a table would break them over lines."""
    return Bullets(tuple(line(*_side(side), " is ", Quoted(_run_id(arm.meta), limit=None)) for side, arm in arms))


def warnings_blocks(pairs: Sequence[Pair]) -> tuple[Block, ...]:
    """Every way in which the arms are unlike; the first screen holds only the first few."""
    told = tuple(
        line(Quoted(words.name_of(pair, pairs)), ": ", Quoted(text, limit=400))
        for pair in pairs
        for text in words.unlike(pair)
    )
    return (Bullets(told),) if told else ()


def age(pair: Pair) -> str:
    """How much older the before arm is, in words; "" below a day or where a date is missing."""
    dates = [_date(arm.meta.get("created")) for arm in (pair.before, pair.after)]
    if dates[0] is None or dates[1] is None:
        return ""
    days = (dates[1] - dates[0]).days
    return f"The before run is {numbers.counted(days, 'day')} older than the after run." if days >= 1 else ""


def spend_blocks(arms: Iterable[tuple[str, Arm]]) -> tuple[Block, ...]:
    """Calls, tokens and cost a run; unknown is `unknown`, never 0."""
    rows = []
    for side, arm in arms:
        spend = arm.spend or {}
        told = [numbers.count(spend.get(key)) for key in ("calls", "cached", "input_tokens", "output_tokens")]
        told.insert(3, _kept_prefix(spend))
        told.append(numbers.money(spend.get("cost_usd")))
        rows.append((_side(side), *(line(cell) for cell in told)))
    columns = (Column(SPEND_COLUMNS[0]), *(Column(name, "right") for name in SPEND_COLUMNS[1:]))
    return (Table(columns, tuple(rows), note=SPEND_NOTE),)


def _kept_prefix(spend: Mapping[str, Any]) -> str:
    kept, read = spend.get("prefix_cached_tokens"), spend.get("input_tokens")
    return numbers.percent(kept / read if kept is not None and read else None, 1, missing=numbers.UNKNOWN)


def reproduce_blocks(pairs: Sequence[Pair], *, command: str = "") -> tuple[Block, ...]:
    """The commands that made the runs, and the one that compares them."""
    commands: list[str] = []
    for pair in pairs:
        for arm in (pair.before, pair.after):
            commands.append(command_of(arm.meta))
        ids = [str(arm.meta.get("run_id") or "") for arm in (pair.before, pair.after)]
        if not command and all(ids):
            commands.append(f"python -m eva compare {shlex.quote(ids[0])} {shlex.quote(ids[1])}")
    commands.append(command)
    told = tuple(dict.fromkeys(text for text in commands if text))
    return (Command(told),) if told else ()


def command_block(arm: Arm) -> tuple[Block, ...]:
    """The command that made one run."""
    command = command_of(arm.meta)
    return (Command((command,)),) if command else ()


def meanings_blocks(used: Iterable[str]) -> tuple[Block, ...]:
    """What the verdict words in this report mean."""
    spoken = set(used)
    return (
        Bullets(
            tuple(
                line(Strong(word), f": {meaning}")
                for word, meaning in VERDICT_MEANINGS.items()
                if word in spoken or not spoken
            )
        ),
    )


def _run_row(side: str, meta: Mapping[str, Any]) -> tuple[Line, ...]:
    git, model, dataset = (_mapping(meta.get(key)) for key in ("git", "model", "dataset"))
    answered = ", ".join(str(name) for name in model.get("answered") or ()) or words.model_of(meta)
    status = str(meta.get("status") or "")
    unfinished: Line = () if status in {"", "finished"} else (" ", Strong(status))
    if meta.get("lost"):
        unfinished += (", ", Strong(f"{numbers.counted(int(meta['lost']), 'call')} lost"))
    return (
        _side(side) + unfinished,
        line(Quoted(str(meta.get("prompt") or "?")), " ", Quoted(str(meta.get("prompt_sha256") or "")[:12])),
        line(Quoted(answered)),
        line(Quoted(words.dataset_of(meta)), " ", Quoted(str(dataset.get("sha256") or "")[:12])),
        line(numbers.count(_repeats(meta))),
        line(str(meta.get("created") or numbers.UNKNOWN)[:16].replace("T", " ")),
        line(Quoted(str(git.get("commit") or numbers.UNKNOWN)[:12]), " with changes" if git.get("dirty") else ""),
    )


def _side(side: str) -> Line:
    """Which of the runs of this report; it names a judge where there are several."""
    return line(Quoted(side, limit=80) if side else "this run")


def _run_id(meta: Mapping[str, Any]) -> str:
    return str(meta.get("run_id") or "?")


def command_of(meta: Mapping[str, Any]) -> str:
    """The command of a run; a list of arguments is quoted for a shell."""
    command = meta.get("command")
    if isinstance(command, Sequence) and not isinstance(command, str):
        return shlex.join(str(part) for part in command)
    return str(command or "")


def _repeats(meta: Mapping[str, Any]) -> int | None:
    repeats = meta.get("repeats")
    if isinstance(repeats, int):
        return repeats
    return len(repeats) if isinstance(repeats, Sequence) and not isinstance(repeats, str) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _date(text: Any) -> datetime | None:
    """A date of a run, without its zone (both are written in UTC); None where it cannot be read."""
    try:
        return datetime.fromisoformat(str(text)).replace(tzinfo=None)
    except ValueError:
        return None
