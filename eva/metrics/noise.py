"""The A/A floor: what differs between two repeats of one prompt, set against what differs between two prompts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eva.metrics.intervals import estimate, rate_estimate
from eva.metrics.matrix import VerdictMatrix
from eva.metrics.measures import Compute
from eva.metrics.pairing import Pair
from eva.metrics.repeats import self_agreement
from eva.metrics.resample import resample_clusters
from eva.metrics.results import Estimate, NoiseFloor
from eva.metrics.tallies import Means, means_by_cluster
from eva.metrics.votes import Floats, Votes, share, votes

NO_REPEATS = "1 repeat: this arm has no floor of its own"


@dataclass(frozen=True)
class Moves:
    """Expected moves of each item between two single repeats, and for which items that can be said."""

    differ: Floats
    """(n,) chance that the two verdicts differ; kinds of failure count as one verdict."""
    up: Floats
    """(n,) chance that the second label stands higher."""
    down: Floats
    known: NDArray[np.bool_]


def noise_floor(
    pair: Pair, *, rng: np.random.Generator, resamples: int, rerun: VerdictMatrix | None = None
) -> NoiseFloor:
    """Expected share of items that differ within each arm and between the arms, one repeat each.

    Within an arm: 1 − chance that two different repeats agree; between: 1 − Σ_v p_v·q_v. `rerun` (same items) is a
    second run of the before arm's prompt: then that arm's floor is what differs between the two runs. The excess is
    between − mean of the known floors, by paired cluster bootstrap; None where no arm was asked twice.
    """
    first, second = votes(pair.before), votes(pair.after)
    before = within(first) if rerun is None else across(first, votes(rerun))
    moves = {"before": before, "after": within(second), "between": across(first, second)}
    columns = [(name, move.differ, move.known) for name, move in moves.items()]
    means = means_by_cluster(columns, pair.before.clusters)
    resampled = resample_clusters(means.sums, resamples=resamples, rng=rng)
    repeats = min(pair.before.n_repeats, pair.after.n_repeats)
    found: dict[str, Estimate] = {}
    for name, move in moves.items():
        rate = rate_estimate(resampled, means.compute(name), sums=means.of(name), repeats=repeats)
        lacking = pair.before.n_items > 0 and not move.known.any()
        found[name] = replace(rate, note=NO_REPEATS) if lacking else rate
    floors = [name for name in ("before", "after") if moves[name].known.any()]
    excess = estimate(
        resampled,
        _excess(means, floors),
        n_items=pair.before.n_items,
        repeats=repeats,
        undefined="neither arm was asked twice: no floor",
    )
    ordinal = pair.before.values is not None
    within_arms = [moves[name] for name in floors]
    return NoiseFloor(
        **found,
        excess=excess,
        up=float(moves["between"].up.sum()) if ordinal else None,
        down=float(moves["between"].down.sum()) if ordinal else None,
        floor_up=_mean_sum([move.up for move in within_arms]) if ordinal else None,
        floor_down=_mean_sum([move.down for move in within_arms]) if ordinal else None,
    )


def within(counted: Votes) -> Moves:
    """Two different repeats of one arm. Up and down are equally likely."""
    labels = counted.counts[:, :-2]
    lower = np.cumsum(labels, axis=1) - labels
    pairs = counted.asked * (counted.asked - 1)
    up = share((labels * lower).sum(axis=1)[:, None], pairs)[:, 0]
    known = counted.asked >= 2
    return Moves(differ=np.where(known, 1 - self_agreement(counted), 0.0), up=up, down=up, known=known)


def across(first: Votes, second: Votes) -> Moves:
    """One repeat of each of two arms."""
    p, q = first.shares, second.shares
    known = (first.asked > 0) & (second.asked > 0)
    return Moves(
        differ=np.where(known, 1 - (p * q).sum(axis=1), 0.0), up=_higher(p, q), down=_higher(q, p), known=known
    )


def _higher(low: Floats, high: Floats) -> Floats:
    """(n,) chance that a label of `high` stands above one of `low`."""
    p, q = low[:, :-2], high[:, :-2]
    return np.asarray((q * (np.cumsum(p, axis=1) - p)).sum(axis=1), dtype=np.float64)


def _excess(means: Means, floors: list[str]) -> Compute:
    between = means.compute("between")

    def compute(sums: Floats) -> Floats:
        if not floors:
            return np.full(sums.shape[:-1], np.nan)
        mean = np.mean([means.compute(name)(sums) for name in floors], axis=0)
        return np.asarray(between(sums) - mean, dtype=np.float64)

    return compute


def _mean_sum(moves: list[Floats]) -> float | None:
    return float(np.mean([move.sum() for move in moves])) if moves else None
