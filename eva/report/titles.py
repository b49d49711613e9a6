"""What stands at the very top: which judge, prompt, model and data, what n counts, and whether a run came to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eva.report import numbers, words
from eva.report.blocks import Line, Quoted, Run, Strong, line
from eva.report.closing import command_of
from eva.report.inputs import Arm, Pair


def run_title(arm: Arm) -> Line:
    """`Judge faithfulness · prompt v2 · claude-opus-4-6 · dataset faithfulness (137 items)`."""
    meta = arm.meta
    prompt = Quoted(words.prompt_of(meta))
    return line("Judge ", Quoted(words.judge_of(meta)), " · prompt ", prompt, *_where(meta, arm.summary.n_items))


def comparison_title(pairs: Sequence[Pair]) -> Line:
    """The same with both prompts; of several pairs, how many judges, prompts and comparisons there are."""
    if not pairs:
        return line("No comparison")
    judges = list(dict.fromkeys(words.judge_of(pair.after.meta) for pair in pairs))
    told: list[Run] = ["Judge ", Quoted(judges[0])] if len(judges) == 1 else [f"{len(judges)} judges"]
    told += _prompts(pairs)
    if len(pairs) == 1:
        comparison = pairs[0].comparison
        common = "common item" if comparison.only_before or comparison.only_after else "item"
        return line(*told, *_where(pairs[0].after.meta, comparison.n_items, noun=common))
    return line(*told, f" · {len(pairs)} comparisons") if len(pairs) > len(judges) else line(*told)


def labelled_of(n_labelled: int, n_items: int) -> str:
    """`198 labelled items (of 200)`: which of them a number against human labels rests on."""
    of = "" if n_labelled == n_items else f" (of {numbers.count(n_items)})"
    return f"{numbers.counted(n_labelled, 'labelled item')}{of}"


def states(arms: Sequence[tuple[str, Arm]]) -> tuple[Line, ...]:
    """`state` of both runs of a comparison; of several comparisons the first remark and how many more there are."""
    told = [text for side, arm in arms for text in state(arm, side)]
    if len(arms) <= 2 or len(told) <= 1:
        return tuple(told)
    more = numbers.counted(len(told) - 1, "more remark")
    return told[0], line(f"There {'is' if len(told) == 2 else 'are'} {more} of this kind; see Runs.")


def state(arm: Arm, side: str = "") -> tuple[Line, ...]:
    """That a run did not come to its end, or lost calls: first of all, since every number rests on what is there."""
    meta = arm.meta
    name = f"the {side} run" if side else "this run"
    status = str(meta.get("status") or "finished")
    told: list[Line] = []
    if status != "finished":
        how = {"interrupted": "was interrupted"}.get(status, status)
        error: tuple[Run, ...] = (" (", Quoted(str(meta["error"]), limit=200), ")") if meta.get("error") else ()
        start = Strong(f"{name[:1].upper()}{name[1:]} {how}")
        told.append(line(start, *error, f": {_there(arm)}. All its numbers are of these alone.", *_goes_on(meta)))
    lost = int(meta.get("lost") or 0)
    if lost:
        start = Strong(f"{numbers.counted(lost, 'call')} of {name} got no reply")
        theirs = "Its verdicts count" if lost == 1 else "Their verdicts count"
        told.append(line(start, f". {theirs} as wrong, though a lost call says nothing about the judge."))
    return tuple(told)


def _prompts(pairs: Sequence[Pair]) -> list[Run]:
    """`prompt v1 → v2` where all pairs are of the same two; else how many prompts were set against which."""
    versions = list(dict.fromkeys((words.prompt_of(p.before.meta), words.prompt_of(p.after.meta)) for p in pairs))
    if len(versions) == 1:
        return [" · prompt ", Quoted(versions[0][0]), " → ", Quoted(versions[0][1])]
    before = {version[0] for version in versions}
    if len(before) == 1:
        return [f" · {len(versions)} prompts against ", Quoted(versions[0][0])]
    return [f" · {len(versions)} pairs of prompts"]


def _where(meta: Mapping[str, object], n_items: int, *, noun: str = "item") -> tuple[Run, ...]:
    model, dataset = Quoted(words.model_of(meta)), Quoted(words.dataset_of(meta))
    return " · ", model, " · dataset ", dataset, f" ({numbers.counted(n_items, noun)})"


def _there(arm: Arm) -> str:
    """`212 of 411 verdicts are there`, as far as both numbers are known."""
    dataset, repeats = arm.meta.get("dataset"), arm.meta.get("repeats")
    items = dataset.get("items") if isinstance(dataset, Mapping) else None
    wanted = items * repeats if isinstance(items, int) and isinstance(repeats, int) else None
    there = (arm.readings or {}).get("verdicts")
    if there is None:
        return "not all verdicts are there"
    of = "" if wanted is None else f" of {numbers.count(wanted)}"
    return f"{numbers.count(there)}{of} verdicts are there"


def _goes_on(meta: Mapping[str, object]) -> tuple[Run, ...]:
    command = command_of(meta)
    return (" The same command goes on where it stopped: ", Quoted(command, limit=400)) if command else ()
