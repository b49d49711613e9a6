"""The trivial model: what wording gives away, never across clusters."""

from __future__ import annotations

import numpy as np
import pytest

from eva.metrics.trivial import trivial_baseline

LABELS = ("bad", "good")


def test_wording_that_gives_the_label_away_is_found():
    """Bad texts say `wrong`: the model that knows nothing else is nearly always right."""
    gold = ["bad", "good"] * 30
    texts = [f"turn {place} {'wrong answer' if label == 'bad' else 'fine answer'}" for place, label in enumerate(gold)]
    found = trivial_baseline(texts, gold, [str(place) for place in range(60)], labels=LABELS)
    assert found.accuracy > 0.9
    assert found.macro_f1 > 0.9
    assert "5 folds by cluster" in found.note


def test_length_alone_can_give_it_away():
    """The same sentence, longer where it is bad: lengths suffice."""
    texts = ["la " * (50 if place % 2 else 10) for place in range(60)]
    found = trivial_baseline(texts, ["good", "bad"] * 30, [str(place) for place in range(60)], labels=LABELS)
    assert found.accuracy > 0.95


def test_an_item_is_never_predicted_from_its_own_cluster():
    """Each cluster has words of its own and a label by chance: across clusters nothing can be learnt, within all."""
    rng = np.random.default_rng(0)
    labels = rng.choice(LABELS, 30)
    texts = [f"{'abcdefghijklmnopqrstuvwxyz0123'[cluster] * 6}" for cluster in range(30) for _ in range(4)]
    gold = [str(labels[cluster]) for cluster in range(30) for _ in range(4)]
    apart = trivial_baseline(texts, gold, [str(cluster) for cluster in range(30) for _ in range(4)], labels=LABELS)
    leaking = trivial_baseline(texts, gold, [str(place) for place in range(120)], labels=LABELS)
    assert leaking.accuracy > 0.95
    assert apart.accuracy < 0.7


def test_the_same_input_gives_the_same_numbers():
    """No randomness: two calls agree."""
    texts = [f"word{place % 7} word{place % 5}" for place in range(50)]
    gold = ["bad" if place % 3 else "good" for place in range(50)]
    clusters = [str(place // 2) for place in range(50)]
    assert trivial_baseline(texts, gold, clusters, labels=LABELS) == trivial_baseline(
        texts, gold, clusters, labels=LABELS
    )


@pytest.mark.parametrize(
    ("texts", "gold", "clusters"),
    [
        ([], [], []),
        (["a", "b"], ["bad", "bad"], ["1", "2"]),
        (["a", "b"], ["bad", "good"], ["1", "1"]),
        (["a", "b"], ["bad", None], ["1", "2"]),
    ],
)
def test_too_little_to_learn_from(texts, gold, clusters):
    """No items, one class, one cluster: None with a note."""
    found = trivial_baseline(texts, gold, clusters, labels=LABELS)
    assert (found.accuracy, found.macro_f1) == (None, None)
    assert found.note


def test_items_without_gold_and_empty_texts_are_no_obstacle():
    """Unlabelled and not-applicable items are left out; a text may be empty."""
    gold = ["bad", "good", None, "not_applicable"] * 10
    texts = ["" if place % 3 else "語 語" for place in range(40)]
    found = trivial_baseline(texts, gold, [str(place) for place in range(40)], labels=LABELS)
    assert 0 <= found.accuracy <= 1
