"""Can a label be told from what is not the conversation: id, place in the file, length, provenance, language, domain?

For each of these a trivial model is fitted and asked about clusters that it has not seen. Where it does better than
chance by more than the set's size explains, a judge (or a person who tunes one) can be right for the wrong reason.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eva.edges.datasets.findings import Finding, LabelledItem
from eva.types import NOT_APPLICABLE, Dataset

FOLDS = 5
LEAST = 4
"""Clusters that a class must have to be part of this check."""
DEVIATIONS = 3.0
"""How many standard errors above chance count as a leak: on sets of 60 random labels, all looks together raised a false
alarm in 8 of 120 sets."""
MEANT = {
    "length": " (where length is what the judge rates, this is the subject and no leak)",
    "place in the conversation": " (the judge sees this as well: fine where the rubric makes it count)",
}


@dataclass(frozen=True)
class Skill:
    """How well one kind of metadata tells the label, by cross-validation over clusters."""

    feature: str
    balanced_accuracy: float
    """Mean recall over classes; 1 / classes by chance."""
    accuracy: float
    majority: float
    chance: float
    error: float
    """Standard error of the balanced accuracy at chance, clusters counted once a class."""
    items: int

    @property
    def leaks(self) -> bool:
        return self.balanced_accuracy > self.chance + DEVIATIONS * self.error


def leaks(dataset: Dataset, items: Sequence[LabelledItem]) -> Iterator[Finding]:
    """A finding for each kind of items and metadata: a warning where the label leaks, else an info with the figures."""
    for kind in sorted({item.kind for item in items}):
        chosen = [item for item in items if item.kind == kind and item.label != NOT_APPLICABLE]
        for skill in skills(chosen):
            meant = MEANT.get(skill.feature, "") if skill.leaks else ""
            yield Finding(
                "warning" if skill.leaks else "info",
                "leak",
                f"{kind} labels from {skill.feature} alone: balanced accuracy {skill.balanced_accuracy:.2f} "
                f"(chance {skill.chance:.2f} ± {skill.error:.2f}), accuracy {skill.accuracy:.2f} "
                f"(majority {skill.majority:.2f}) on {skill.items} items{meant}",
                figures={"balanced_accuracy": skill.balanced_accuracy, "accuracy": skill.accuracy,
                         "majority": skill.majority, "chance": skill.chance, "error": skill.error},
            )  # fmt: skip


def skills(items: Sequence[LabelledItem]) -> list[Skill]:
    """The skill of each kind of metadata that varies; none where fewer than two classes have `LEAST` clusters."""
    clusters = Counter(label for label, _ in {(item.label, item.record.cluster) for item in items})
    labels = sorted(label for label, count in clusters.items() if count >= LEAST)
    kept = [item for item in items if item.label in labels]
    if len(labels) < 2:
        return []
    chance = 1 / len(labels)
    spread = sum(chance * (1 - chance) / clusters[label] for label in labels)
    error = math.sqrt(spread) / len(labels)
    gold = np.array([item.label for item in kept])
    majority = max(Counter(gold.tolist()).values()) / len(gold)
    found = []
    for feature, values in _features(kept).items():
        if len({str(value) for value in values}) > 1:
            predicted = _predicted(values, gold, [item.record.cluster for item in kept])
            recalls = [float(np.mean(predicted[gold == label] == label)) for label in labels]
            accuracy = float(np.mean(predicted == gold))
            found.append(Skill(feature, sum(recalls) / len(labels), accuracy, majority, chance, error, len(kept)))
    return found


def _features(items: Sequence[LabelledItem]) -> dict[str, list[Any]]:
    """Kind of metadata -> a value for each item: a string (its letters), a tuple of numbers or a dict of names."""
    return {
        "id": [item.record.record_id for item in items],
        "number in the id": [_number(item.record.record_id) for item in items],
        "place in the file": [_cycles(item.place) for item in items],
        "length": [_length(item) for item in items],
        "place in the conversation": [_place(item) for item in items],
        "provenance": [{"p": item.gold.provenance, "a": item.gold.annotator} for item in items],
        "domain": [{"d": item.record.domain} for item in items],
        "language": [{"l": item.record.language} for item in items],
        "split": [{"s": item.record.split} for item in items],
    }


def _predicted(values: list[Any], gold: np.ndarray[Any, Any], clusters: list[str]) -> np.ndarray[Any, Any]:
    """Labels predicted for each item by a model that has not seen its cluster."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    if isinstance(values[0], tuple):
        data: Any = np.array(values, dtype=float)
        model: Any = DecisionTreeClassifier(max_depth=5, min_samples_leaf=2, class_weight="balanced", random_state=0)
    else:
        data = values
        names = isinstance(values[0], str)
        turned = TfidfVectorizer(analyzer="char", ngram_range=(1, 3)) if names else DictVectorizer()
        model = make_pipeline(turned, LogisticRegression(class_weight="balanced", max_iter=1000))
    folds = StratifiedGroupKFold(min(FOLDS, len(set(clusters))), shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # folds without a rare class: such items count as missed
        return np.asarray(cross_val_predict(model, data, gold, groups=clusters, cv=folds))


def _number(name: str) -> tuple[float, ...]:
    digits = re.findall(r"\d+", name)
    return _cycles(int(digits[-1][-9:])) if digits else _cycles(-1)


def _cycles(place: int) -> tuple[float, ...]:
    """A place and where it stands in cycles of 2 to 5: sets are often written class by class, or in turns."""
    return (float(place), *(float(place % length) for length in (2, 3, 4, 5)))


def _length(item: LabelledItem) -> tuple[float, ...]:
    return float(len(item.text)), float(len(item.text.split())), float(len(item.record.events))


def _place(item: LabelledItem) -> tuple[float, ...]:
    last = item.record.events[-1].turn_id
    turn = item.turn if item.turn is not None else last
    return float(turn), float(last - turn), float(last)
