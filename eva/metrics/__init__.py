"""Numbers from verdict rows. Pure: no file, clock, environment or global randomness.

Entry points: `eva.metrics.summary.summarise` (one arm), `eva.metrics.compare.compare` (two arms),
`eva.metrics.trivial.trivial_baseline`, `eva.metrics.resample.rng_for`. Nothing is imported here: the result types
(`eva.metrics.results`) must stay quick to import.
"""
