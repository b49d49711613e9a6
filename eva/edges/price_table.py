"""litellm's price table, read as data: 25 ms instead of the seconds of an import, and the same on every day."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FILE = "model_prices_and_context_window_backup.json"
MILLION = 1_000_000
TIERS = ("flex", "priority", "batches")
_ABOVE = re.compile(r"input_cost_per_token_above_(\d+)k_tokens$")


@dataclass(frozen=True)
class Price:
    """USD per million tokens. None: unknown, which makes a cost unknown where such tokens were used."""

    input: float
    output: float
    cached_input: float
    audio_input: float | None
    reasoning: float


@lru_cache(maxsize=1)
def table() -> Mapping[str, Mapping[str, Any]]:
    """Model -> litellm's facts about it; empty where litellm is not installed."""
    found = importlib.util.find_spec("litellm")
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder) / FILE
        if path.is_file():
            facts: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
            return facts
    return {}


def table_version() -> str:
    """Which table prices come from."""
    try:
        return f"litellm {version('litellm')}"
    except PackageNotFoundError:
        return "no price table"


def facts_of(model_id: str) -> Mapping[str, Any] | None:
    """The table's row for a litellm id: as it stands, or without its provider where the row names that provider."""
    rows = table()
    if model_id in rows:
        return rows[model_id]
    provider, _, name = model_id.partition("/")
    row = rows.get(name)
    # Rows of one company on another's platform carry longer provider names (bedrock_converse).
    if row is not None and str(row.get("litellm_provider", "")).startswith(provider):
        return row
    return None


def listed_price(model_id: str, *, tier: str | None, input_tokens: int) -> Price | None:
    """The listed price of a model at a service tier and prompt length; None where the table does not say.

    `tier` is the `service_tier` that is sent; a tier that the table has no price for is unknown, never the usual price.
    """
    row = facts_of(model_id)
    if row is None:
        return None
    suffix = _length_suffix(row, input_tokens)
    tier_suffix = f"_{tier}" if tier in TIERS else ""
    if tier not in (None, "auto", "default", "standard", "standard_only", *TIERS):
        return None
    price = _rate(row, "input_cost_per_token", suffix, tier_suffix)
    output = _rate(row, "output_cost_per_token", suffix, tier_suffix)
    if price is None or output is None:
        return None
    cached = _rate(row, "cache_read_input_token_cost", suffix, tier_suffix)
    reasoning = _rate(row, "output_cost_per_reasoning_token", "", tier_suffix)
    return Price(
        input=price,
        output=output,
        cached_input=price if cached is None else cached,
        audio_input=_rate(row, "input_cost_per_audio_token", "", tier_suffix),
        reasoning=output if reasoning is None else reasoning,
    )


def _length_suffix(row: Mapping[str, Any], input_tokens: int) -> str:
    """Long prompts cost more with some models: the highest step that this prompt is above."""
    steps = sorted(int(match.group(1)) for key in row if (match := _ABOVE.match(key)))
    passed = [step for step in steps if input_tokens > step * 1000]
    return f"_above_{passed[-1]}k_tokens" if passed else ""


def _rate(row: Mapping[str, Any], name: str, length: str, tier: str) -> float | None:
    for key in (name + length + tier, name + tier) if tier else (name + length, name):
        value = row.get(key)
        if isinstance(value, (int, float)):
            return float(value) * MILLION
    return None
