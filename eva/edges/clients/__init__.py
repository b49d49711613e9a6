"""The models' side of the house: one contract, a client per kind of model."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from eva.edges.clients.contract import Client, RecordFailure, Transient
from eva.errors import UnknownChoice
from eva.types import ModelSpec

__all__ = ["KINDS", "Client", "RecordFailure", "Transient", "open_client"]

KINDS: dict[str, tuple[str, str]] = {
    "endpoint": ("eva.edges.clients.endpoint", "EndpointClient"),
    "litellm": ("eva.edges.clients.providers", "ProviderClient"),
    "local": ("eva.edges.clients.local", "LocalClient"),
    "recorded": ("eva.edges.clients.recorded", "RecordedClient"),
    "scripted": ("eva.edges.clients.scripted", "ScriptedClient"),
}
"""Kind of a model -> module and class. By name, so that a run imports only the library of the kind it uses."""


def open_client(spec: ModelSpec) -> Client:
    """The client of `spec.kind`. Raises UnknownChoice for a kind that does not exist, ModelError or DataError where the
    model's files are absent or wrong."""
    if spec.kind not in KINDS:
        raise UnknownChoice("model kind", spec.kind, KINDS)
    module, name = KINDS[spec.kind]
    factory: Callable[[ModelSpec], Client] = getattr(import_module(module), name)
    return factory(spec)
