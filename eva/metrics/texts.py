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
FITTED: Final = 1000
"""Of more different texts so many, evenly spaced, make the clusters; the others join the nearest one."""
FEATURES: Final = 2000
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
    there are under 6 texts or none stands apart. Texts of the same words are one point with their number as weight:
    alone they would look like clusters. `seed` is k-means' own: the same texts give the same clusters.
    """
    if not texts:
        return ()
    vectors, names = _vectors(texts)
    kinds = _kinds(texts)
    codes = _codes(vectors[kinds.first], times=kinds.times, seed=seed, of=len(texts))[kinds.place]
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
    near = np.round(np.asarray(vectors @ _mean(vectors)), 9)
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


@dataclass(frozen=True)
class _Kinds:
    """Different texts: the first of each, how often each comes, and which kind each text is of."""

    first: NDArray[np.int64]
    times: NDArray[np.int64]
    place: NDArray[np.int64]


def _kinds(texts: Sequence[str]) -> _Kinds:
    keys = np.array([" ".join(words(text)) for text in texts], dtype=object)
    _, first, place, times = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return _Kinds(first.astype(np.int64), times.astype(np.int64), place.reshape(-1).astype(np.int64))


def _vectors(texts: Sequence[str]) -> tuple[Any, list[str]]:
    """Sparse (n, terms) TF-IDF with rows of length 1, and the terms; a text without words is a row of 0."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer  # slow to import

    def tokens(text: str) -> list[str]:
        return [word for word in words(text) if word not in ENGLISH_STOP_WORDS]

    if not any(tokens(text) for text in texts):
        return csr_matrix((len(texts), 1)), [""]
    vectorizer = TfidfVectorizer(
        tokenizer=tokens, token_pattern=None, lowercase=False, ngram_range=(1, 2), max_features=FEATURES
    )
    table = vectorizer.fit_transform(texts).tocsr()
    return table, [str(name) for name in vectorizer.get_feature_names_out()]


def _codes(points: Any, *, times: NDArray[np.int64], seed: int, of: int) -> NDArray[np.int64]:
    """Cluster of each kind of text; `of`: how many texts there are."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    n = points.shape[0]
    fitted = np.linspace(0, n - 1, min(n, FITTED)).astype(np.int64)
    some, best, clear = points[fitted], np.zeros(n, dtype=np.int64), CLEAR
    for k in range(2, min(MOST_CLUSTERS, n - 1) + 1) if of >= FEW else ():
        means = KMeans(k, n_init=3, random_state=seed).fit(some, sample_weight=times[fitted])
        if len(np.unique(means.labels_)) < 2:
            continue
        score = silhouette_score(some, means.labels_, metric="cosine")
        if score > clear + 1e-9:
            best, clear = np.asarray(means.predict(points), dtype=np.int64), float(score)
    return best


def _mean(vectors: Any) -> Floats:
    return np.asarray(vectors.mean(axis=0), dtype=np.float64).reshape(-1)


def _terms(vectors: Any, names: Sequence[str], *, inside: NDArray[np.bool_]) -> tuple[str, ...]:
    """The terms with the largest mean weight inside, above the mean weight outside; parts of a chosen pair are left out."""
    centre = _mean(vectors[np.flatnonzero(inside)])
    if not inside.all():
        centre = centre - _mean(vectors[np.flatnonzero(~inside)])
    chosen: list[str] = []
    for place in np.argsort(-np.round(centre, 9), kind="stable"):
        name = names[int(place)]
        if centre[place] <= 0 or len(chosen) == TERMS:
            break
        if not any(set(name.split()) & set(other.split()) for other in chosen):
            chosen.append(name)
    return tuple(chosen)
