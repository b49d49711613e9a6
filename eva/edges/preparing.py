"""Before the first call: can this model do it, what is there already, and what would the rest cost? Nothing is asked here."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from eva.edges.asking import store_path
from eva.edges.preflight import Preflight, estimate, prepare
from eva.edges.pricing import check_price
from eva.edges.settings import Settings
from eva.edges.store import ReplyStore
from eva.judges.plan import Plan


@dataclass(frozen=True)
class Prepared:
    """What is said before the first call."""

    headline: str
    first_request: str
    notes: tuple[str, ...] = ()


def as_it_will_be_asked(settings: Settings) -> tuple[Settings, Preflight]:
    """Settings with the model as it will really be asked: parameters that may be dropped are gone.

    Raises ConfigError for parameters that the model does not take, ModelError for an unknown provider.
    """
    found = prepare(settings.model, settings.judge.modality, will_ask=False)
    return replace(settings, model=found.spec), found


def prepare_run(settings: Settings, plan: Plan, *, preflight: Preflight) -> Prepared:
    """Estimate the run and check what paid calls need; raises CredentialsError or BudgetError before any money is spent."""
    store = ReplyStore(store_path(settings)) if store_path(settings).exists() else None
    found = estimate(plan.requests, settings.options.seeds, settings.model, store=store)
    if found.calls and not settings.options.dry_run:
        prepare(settings.model, settings.judge.modality, will_ask=True)
        if settings.options.max_usd is not None:
            check_price(settings.model)
    headline = (
        f"{plan.judge.name} {plan.prompt.version} · {settings.model.name} · {plan.dataset.name}: "
        f"{len(plan.requests)} records, {plan.n_items} items × {settings.options.seeds} "
        f"{'repeat' if settings.options.seeds == 1 else 'repeats'}"
    )
    first = plan.requests[0]
    shown = "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in first.messages)
    contract = (
        json.dumps(first.response_schema, ensure_ascii=False) if first.response_schema else "(asked for in the prompt)"
    )
    sent = json.dumps(dict(preflight.sent), ensure_ascii=False, sort_keys=True)
    return Prepared(
        headline=f"{headline}\n{found.text()}{_again(settings)}",
        first_request=f"{shown}\n\n[reply contract]\n{contract}\n\n[parameters]\n{sent}",
        notes=(*_without_labels(settings, plan), *_notes(preflight)),
    )


def _without_labels(settings: Settings, plan: Plan) -> tuple[str, ...]:
    """Before money is spent: nothing can be measured against labels that are not there."""
    labelled = sum(item.gold is not None for items in plan.items.values() for item in items)
    if settings.options.task != "validate" or labelled:
        return ()
    return (
        (
            f"no item of {plan.dataset.name} has a human label, so there will be no accuracy: task=rescore compares prompts "
            "on such data"
        ),
    )


def _again(settings: Settings) -> str:
    """What re-asking could add; the estimate is of first asks."""
    if settings.options.on_unreadable == "keep":
        return ""
    return f"; unreadable replies are asked again up to {settings.options.ask_again} times each, on top of that"


def _notes(preflight: Preflight) -> tuple[str, ...]:
    dropped = (f"not sent, as allowed: {', '.join(preflight.dropped)}",) if preflight.dropped else ()
    return (*dropped, *preflight.warnings, *preflight.notes)
