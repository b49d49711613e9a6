"""What `python run.py --help` prints: one example per common task, and every choice. Needs neither Hydra nor a model."""

from __future__ import annotations

from eva.edges.compose import CONF, choices

EXAMPLES = (
    ("The main job", "python run.py judge=faithfulness prompt=v2 seeds=3"),
    ("Two versions at once", "python run.py -m judge=faithfulness,conciseness prompt=v1,v2 seeds=3"),
    ("Your model", "OPENAI_API_KEY=… python run.py judge=conciseness prompt=v2 model=gpt-5.2 seeds=3 max_usd=5"),
    ("Any provider", "python run.py model=litellm model.id=provider/name model.key_env=MY_KEY"),
    ("Your server", "python run.py model=endpoint model.api_base=http://127.0.0.1:8000/v1 model.id=my-model"),
    ("Recorded replies", "python run.py model=recorded model.path=replies.jsonl seeds=3"),
    ("Your data", "python run.py judge=conciseness dataset=file dataset.path=calls.jsonl"),
    ("ServiceNow/eva data", "python run.py dataset=eva_faithfulness dataset.path=faithfulness.jsonl"),
    ("One rule switched off", "python run.py judge=conciseness prompt=v2 prompt.sections.rules.<rule>=null"),
    ("The baseline as well", "python run.py judge=faithfulness prompt=v2 seeds=3 baseline=run"),
    ("What would it cost", "python run.py model=gpt-5.2 seeds=3 dry_run=true"),
    ("Stored conversations", "python run.py task=rescore judge=conciseness dataset=eva_runs dataset.path=output"),
    ("Read the results", "python -m eva show last · python -m eva compare v1 v2 --judge faithfulness"),
)
GROUPS = ("judge", "prompt", "model", "language", "dataset", "tracking", "gate", "experiment")
SETTINGS_FILE = "conf/config.yaml"


def help_text() -> str:
    """The whole help."""
    examples = "\n".join(f"  {what:<22} {command}" for what, command in EXAMPLES)
    groups = "\n".join(f"  {group:<11}{', '.join(choices(group))}" for group in GROUPS if choices(group))
    own = [path.name for path in sorted((CONF / "prompt").iterdir()) if path.is_dir()]
    versions = "\n".join(f"    {judge}: {', '.join(choices(f'prompt/{judge}'))}" for judge in own)
    return (
        "Judge a labelled dataset with one version of a judge's prompt, and say what changed since the version before.\n\n"
        f"{examples}\n\nGroups (group=choice; each choice is a file below conf/)\n{groups}\n  prompts by judge\n{versions}\n\n"
        f"Settings (all in {SETTINGS_FILE}, each with its meaning): task seeds limit baseline margin max_usd max_failures\n"
        "  on_unreadable attribute dry_run name home; and any value of a group: model.concurrency=4 dataset.split=test\n"
        "  baseline=auto|none|run|<run id>    -m runs a sweep    hydra/launcher=joblib runs its jobs side by side\n"
        "Hydra's own flags: --hydra-help\n"
    )
