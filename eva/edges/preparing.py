"""Between the plan and the first call: can this model do it, and what would it cost? Nothing is asked here."""

from __future__ import annotations

import json
from dataclasses import dataclass

from eva.edges.settings import Settings
from eva.judges.plan import Plan


@dataclass(frozen=True)
class Prepared:
    """What is said before the first call."""

    headline: str
    first_request: str
    notes: tuple[str, ...] = ()


def prepare_run(settings: Settings, plan: Plan) -> Prepared:
    """Check the model against the run; raises ConfigError or CredentialsError before any money is spent."""
    calls = len(plan.requests) * settings.options.seeds
    headline = (
        f"{plan.judge.name} {plan.prompt.version} · {settings.model.name} · {plan.dataset.name}: {len(plan.requests)} records, "
        f"{plan.n_items} items × {settings.options.seeds} repeats = {calls} calls"
    )
    first = plan.requests[0]
    shown = "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in first.messages)
    schema = (
        f"\n\n[reply contract]\n{json.dumps(first.response_schema, ensure_ascii=False)}"
        if first.response_schema
        else ""
    )
    return Prepared(headline=headline, first_request=f"{shown}{schema}")
