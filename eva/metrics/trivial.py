"""A model that has not understood anything: if it comes near the judge, the dataset can be guessed from wording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from eva.metrics.baselines import scored_baseline
from eva.metrics.results import Baseline
from eva.metrics.votes import Floats

if TYPE_CHECKING:
    from scipy import sparse

TRIVIAL = "trivial"


def trivial_baseline(
    texts: Sequence[str], gold: Sequence[str | None], clusters: Sequence[str], *, labels: Sequence[str], folds: int = 5
) -> Baseline:
    """Logistic regression on TF-IDF (character runs) and lengths, cross-validated by cluster (GroupKFold).

    One text, gold label and cluster per item; items whose gold is not on the scale are left out. An item is predicted
    by a model that saw no item of its cluster. Undefined (None, with a note) under two classes or two clusters; a fold
    whose training part has one class predicts that class.
    """
    from sklearn.model_selection import GroupKFold  # scikit-learn takes a second to import; only this baseline fits

    place = {label: code for code, label in enumerate(labels)}
    kept = [index for index, label in enumerate(gold) if label in place]
    codes = np.array([place[str(gold[index])] for index in kept], dtype=np.int64)
    groups = np.array([clusters[index] for index in kept], dtype=object)
    n_groups = len(set(groups.tolist()))
    if np.unique(codes).size < 2 or n_groups < 2:
        return Baseline(TRIVIAL, None, None, "needs two classes and two clusters")
    words, lengths = _words([texts[index] for index in kept]), _lengths([texts[index] for index in kept])
    predicted = np.empty_like(codes)
    splits = min(folds, n_groups)
    with threadpool_limits(1):  # on small fits, threads that wait for one another take twenty times as long
        for train, test in GroupKFold(n_splits=splits).split(lengths, codes, groups):
            predicted[test] = _predict(words, lengths, codes=codes, train=train, test=test)
    note = f"TF-IDF and lengths, logistic regression, {splits} folds by cluster"
    return scored_baseline(TRIVIAL, codes, predicted=predicted, n_labels=len(labels), note=note)


def _predict(
    words: sparse.csr_matrix,
    lengths: Floats,
    *,
    codes: NDArray[np.int64],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> NDArray[np.int64]:
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    if np.unique(codes[train]).size < 2:
        return np.full(len(test), codes[train][0], dtype=np.int64)
    rarity, size = TfidfTransformer(sublinear_tf=True), StandardScaler()
    seen = sparse.hstack([rarity.fit_transform(words[train]), size.fit_transform(lengths[train])]).tocsr()
    asked = sparse.hstack([rarity.transform(words[test]), size.transform(lengths[test])]).tocsr()
    model = LogisticRegression(max_iter=200, class_weight="balanced").fit(seen, codes[train])
    return np.asarray(model.predict(asked), dtype=np.int64)


def _words(texts: list[str]) -> sparse.csr_matrix:
    """Counts of runs of 2 to 4 characters within words: they serve languages that write no spaces, too."""
    from sklearn.feature_extraction.text import HashingVectorizer

    counter = HashingVectorizer(
        analyzer="char_wb", ngram_range=(2, 4), n_features=2**13, alternate_sign=False, norm=None
    )
    return counter.transform(texts)


def _lengths(texts: list[str]) -> Floats:
    return np.array([[np.log1p(len(text)), np.log1p(len(text.split())), text.count("\n")] for text in texts])
