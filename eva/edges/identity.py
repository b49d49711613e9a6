"""What of a model belongs to a request's digest: everything that can change an answer, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eva.edges.clients.weights import GGUF_SHA256, sha256_of
from eva.edges.secrets import without_credentials
from eva.errors import ModelError
from eva.types import ModelSpec

LEFT_OUT = (
    "name", "key_env", "path", "allow_dropped", "concurrency", "timeout_s", "max_attempts", "requests_per_minute",
    "tokens_per_minute", "price", "free", "audio", "default_limit",
)  # fmt: skip
"""Fields of ModelSpec that cannot change an answer: a new one goes here or into `model_identity` (a test asks)."""


def model_identity(spec: ModelSpec) -> dict[str, Any]:
    """JSON-ready. `path` enters as the sha256 of the file's content, `api_base` without userinfo and query.

    Raises ModelError where a file that the identity needs cannot be read.
    """
    return {
        "kind": spec.kind,
        "id": spec.id,
        "api_base": None if spec.api_base is None else without_credentials(spec.api_base).rstrip("/"),
        "params": dict(spec.params),
        "send_seed": spec.send_seed,
        "structured_output": spec.structured_output,
        "bounded_strings": spec.bounded_strings,
        "context_tokens": spec.context_tokens if spec.kind == "local" else None,
        "file_sha256": _file(spec),
    }


def _file(spec: ModelSpec) -> str | None:
    if spec.path is not None:
        try:
            return sha256_of(Path(spec.path))
        except OSError as error:
            raise ModelError(f"model.path={spec.path}: {error.strerror}") from error
    return GGUF_SHA256 if spec.kind == "local" else None
