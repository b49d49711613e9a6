"""A labelled and an unlabelled run of one judge → what its rate on the unlabelled conversations means. Calls no model."""

from __future__ import annotations

from collections.abc import Sequence

from eva.edges.runs import RunFolder
from eva.errors import ComparisonError, UnknownChoice
from eva.metrics.imperfect import imperfect_rate
from eva.report.imperfect import CorrectedRate


def corrected_rate(labelled: RunFolder, unlabelled: RunFolder, *, target: Sequence[str]) -> CorrectedRate:
    """The share of items with the `target` labels. Raises ComparisonError where the first run cannot speak for the second."""
    labels: list[str] = unlabelled.meta["labels"]
    strange = [label for label in target if label not in labels]
    if strange or not target:
        raise UnknownChoice("label", strange[0] if strange else "", labels)
    _check(labelled, unlabelled)
    found = imperfect_rate(labelled.verdicts, unlabelled.verdicts, labels=labels, target=target)
    return CorrectedRate(
        judge=str(unlabelled.meta["judge"]),
        target=tuple(target),
        raw=found.raw,
        sensitivity=found.sensitivity,
        specificity=found.specificity,
        rogan_gladen=found.rogan_gladen,
        prediction_powered=found.prediction_powered,
        notes=_notes(labelled, unlabelled),
    )


def _check(labelled: RunFolder, unlabelled: RunFolder) -> None:
    """How often a judge errs is known for this prompt and this model only."""
    one, other = labelled.meta, unlabelled.meta
    unlike = [
        f"{name} ({first} and {second})"
        for name, first, second in (
            ("judge", one["judge"], other["judge"]),
            ("judge's config", one["digests"]["judge"][:12], other["digests"]["judge"][:12]),
            ("prompt", one["prompt"], other["prompt"]),
            ("switched-off rules", one["prompt_edited"], other["prompt_edited"]),
            ("model", one["model"]["name"], other["model"]["name"]),
            ("model's settings", one["digests"]["model"][:12], other["digests"]["model"][:12]),
        )
        if first != second
    ]
    if unlike:
        raise ComparisonError(
            f"{labelled.run_id} says nothing about the errors of {unlabelled.run_id}: unlike {', '.join(unlike)}."
        )
    if not labelled.summary["n_labelled"]:
        raise ComparisonError(f"{labelled.run_id} has no human labels: run the judge on a labelled set.")


def _notes(labelled: RunFolder, unlabelled: RunFolder) -> list[str]:
    names = [set(run.meta["dataset"]["languages"]) for run in (labelled, unlabelled)]
    strange = sorted(names[1] - names[0])
    found = (
        [f"no labelled item is in {', '.join(strange)}: whether the judge errs there alike is not known"]
        if strange
        else []
    )
    same = labelled.meta["digests"]["dataset"] == unlabelled.meta["digests"]["dataset"]
    return [
        *found,
        *(["both runs are of the same data: the labelled items are among those whose rate is asked"] if same else []),
    ]
