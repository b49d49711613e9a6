"""Short texts by what they have in common: TF-IDF vectors, k-means, terms that set a cluster apart, typical members."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from eva.metrics.votes import Floats

TERMS: Final = 5
FEW: Final = 6
"""Fewer texts than this are one cluster."""
MOST_CLUSTERS: Final = 8
CLEAR: Final = 0.05
"""Mean silhouette (cosine) below which no number of clusters is better than one."""
SILHOUETTE_TEXTS: Final = 1000
"""It compares every text with every other: of more, so many are looked at."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
"""Kana and Han, written without spaces: pairs of signs stand in for words."""


@dataclass(frozen=True)
class TextCluster:
    terms: tuple[str, ...]
    """What sets these texts apart, strongest first; of a single cluster, what they share."""
    places: tuple[int, ...]
    """Which texts."""


def cluster_texts(texts: Sequence[str], *, seed: int) -> tuple[TextCluster, ...]:
    """Texts that say alike things together, largest cluster first.

    Word and word-pair TF-IDF, k-means with the number of clusters (2–8) of the best mean silhouette; one cluster where
    there are under 6 texts or none stands apart. `seed` is k-means' own: the same texts give the same clusters.
    """
    if not texts:
        return ()
    vectors, names = _vectors(texts)
    codes = _codes(vectors, seed=seed)
    found = [
        TextCluster(
            _terms(vectors, names, inside=codes == code), tuple(int(place) for place in np.flatnonzero(codes == code))
        )
        for code in np.unique(codes)
    ]
    return tuple(sorted(found, key=lambda cluster: (-len(cluster.places), cluster.places)))


def typical(texts: Sequence[str]) -> list[int]:
    """Places of the texts, the one nearest to their common centre first, ties in the order given; empty texts last."""
    if not any(text.strip() for text in texts):
        return list(range(len(texts)))
    vectors, _ = _vectors(texts)
    near = np.round(vectors @ vectors.mean(axis=0), 9)
    return [int(place) for place in np.argsort(-near, kind="stable")]


def words(text: str) -> list[str]:
    """Lower-case words of two or more letters, numbers left out; pairs of signs in scripts without spaces."""
    found: list[str] = []
    for run in _WORD.findall(text.lower()):
        unspaced = _UNSPACED.fullmatch(run)
        if unspaced:
            found += [run[place : place + 2] for place in range(max(1, len(run) - 1))]
        elif len(run) > 1 and not run.isdigit():
            found.append(run)
    return found


def _vectors(texts: Sequence[str]) -> tuple[Floats, list[str]]:
    """(n, terms) TF-IDF with rows of length 1, and the terms; a text without words is a row of 0."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer  # slow to import

    def tokens(text: str) -> list[str]:
        return [word for word in words(text) if word not in ENGLISH_STOP_WORDS]

    vectorizer = TfidfVectorizer(
        tokenizer=tokens, token_pattern=None, lowercase=False, ngram_range=(1, 2), max_features=5000
    )
    try:
        table: Any = vectorizer.fit_transform(texts)
    except ValueError:  # no text has a word: "empty vocabulary"
        return np.zeros((len(texts), 1)), [""]
    return np.asarray(table.todense(), dtype=np.float64), [str(name) for name in vectorizer.get_feature_names_out()]


def _codes(vectors: Floats, *, seed: int) -> NDArray[np.int64]:
    """Cluster of each text. Equal texts are one point with their number as weight: alone they would look like clusters."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    points, place, times = np.unique(vectors, axis=0, return_inverse=True, return_counts=True)
    n = len(points)
    looked_at = np.linspace(0, n - 1, min(n, SILHOUETTE_TEXTS)).astype(np.int64)
    best, clear = np.zeros(n, dtype=np.int64), CLEAR
    for k in range(2, min(MOST_CLUSTERS, n - 1) + 1) if len(vectors) >= FEW else ():
        means = KMeans(k, n_init=5, random_state=seed)
        codes = np.asarray(means.fit_predict(points, sample_weight=times), dtype=np.int64)
        if len(np.unique(codes[looked_at])) < 2:
            continue
        score = silhouette_score(points[looked_at], codes[looked_at], metric="cosine")
        if score > clear + 1e-9:
            best, clear = codes, float(score)
    return best[place.reshape(-1)]


def _terms(vectors: Floats, names: Sequence[str], *, inside: NDArray[np.bool_]) -> tuple[str, ...]:
    """The terms with the largest mean weight inside, above the mean weight outside; parts of a chosen pair are left out."""
    centre = vectors[inside].mean(axis=0)
    if not inside.all():
        centre = centre - vectors[~inside].mean(axis=0)
    chosen: list[str] = []
    for place in np.argsort(-np.round(centre, 9), kind="stable"):
        name = names[int(place)]
        if centre[place] <= 0 or len(chosen) == TERMS:
            break
        if not any(set(name.split()) & set(other.split()) for other in chosen):
            chosen.append(name)
    return tuple(chosen)
