"""Folders in the layout of ServiceNow/eva's run outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TRACE = [
    {"role": "assistant", "content": "Hello!", "type": "intended", "turn_id": 0},
    {"role": "user", "content": "Move my flight.", "type": "transcribed", "turn_id": 1},
    {"tool_name": "find", "parameters": {"code": "K7"}, "type": "tool_call", "turn_id": 1},
    {"tool_name": "find", "tool_response": {"status": "error"}, "type": "tool_response", "turn_id": 1},
    {"role": "assistant", "content": "Which code?", "type": "intended", "turn_id": 1},
]


def context(**change: Any) -> dict[str, Any]:
    """What metrics.json holds beside the verdicts, as far as judges need it."""
    made = {
        "agent_role": "You answer calls.",
        "agent_instructions": "Ask for the code.",
        "agent_tools": [{"name": "find"}],
        "current_date_time": "2026-03-17 10:45 CST",
        "pipeline_type": "cascade",
        "language": "de",
        "user_goal": "Move the flight.",
        "conversation_trace": TRACE,
        **change,
    }
    return {key: value for key, value in made.items() if value is not ...}


def write_conversation(run: Path, output_id: str, *, metrics: dict[str, Any] | None = None, **change: Any) -> None:
    """One conversation's metrics.json."""
    folder = run / "records" / output_id
    folder.mkdir(parents=True)
    data = {"record_id": output_id, "context": context(**change), "metrics": metrics or {}}
    (folder / "metrics.json").write_text(json.dumps(data), encoding="utf-8")


def write_manifest(run: Path, completed: list[str], failed: list[str] | None = None) -> None:
    """results.csv and config.json."""
    rows = [f"{one},true,100.00,5,2,goodbye," for one in completed] + [
        f"{one},false,0,0,0,error,failed" for one in failed or []
    ]
    head = "record_id,completed,duration_seconds,num_turns,num_tool_calls,ended_reason,error"
    (run / "results.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    (run / "config.json").write_text(json.dumps({"dataset_path": "data/airline.jsonl"}), encoding="utf-8")


def write_run(run: Path, completed: list[str], failed: list[str] | None = None) -> Path:
    """A run whose completed conversations are all alike."""
    run.mkdir(parents=True)
    for output_id in completed:
        write_conversation(run, output_id)
    write_manifest(run, completed, failed)
    return run
