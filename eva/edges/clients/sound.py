"""A record's sound as a part of a message, checked before it is paid for: a rating without hearing is worse than none."""

from __future__ import annotations

import array
import base64
import hashlib
import io
import sys
import wave
from pathlib import Path
from typing import Any

from eva.edges.clients.contract import RecordFailure
from eva.types import Failure, Request

FORMATS = {".wav": "wav", ".mp3": "mp3", ".flac": "flac", ".ogg": "ogg", ".m4a": "m4a"}
LARGEST = 50 * 2**20
"""Bytes. Providers drop or refuse larger inline sound."""
SILENCE = 1
"""A 16-bit sample of this size or less is -90 dBFS: quiet speech lies far above, a muted track below."""


def sound_part(request: Request) -> dict[str, Any]:
    """The OpenAI-shaped audio part of a request.

    Raises RecordFailure where the file is absent, empty, silent, too big, of no known kind, or not the digested one.
    """
    path = Path(request.audio_path or "")
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise _refused(path, f"is of no known kind; there are: {', '.join(sorted(FORMATS))}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror}") from error
    if not data:
        raise _refused(path, "is empty")
    if len(data) > LARGEST:
        raise _refused(path, f"holds {len(data)} bytes; at most {LARGEST} are sent")
    if request.audio_sha256 is not None and hashlib.sha256(data).hexdigest() != request.audio_sha256:
        raise _refused(path, "has changed since the run began")
    if kind == "wav":
        _check_wav(path, data)
    return {"type": "input_audio", "input_audio": {"data": base64.b64encode(data).decode("ascii"), "format": kind}}


def _check_wav(path: Path, data: bytes) -> None:
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise _refused(path, "is no WAV file, whatever its name says")
    try:
        with wave.open(io.BytesIO(data)) as file:
            frames = file.readframes(file.getnframes())
            width = file.getsampwidth()
    except (wave.Error, EOFError) as error:
        # Compressed sound (mu-law of a telephone line) is legal WAV that Python does not open; a cut header is not.
        if "unknown format" in str(error):
            return
        raise _refused(path, f"is a broken WAV file: {error}") from error
    if not frames:
        raise _refused(path, "holds no sound")
    if width == 2:
        samples = array.array("h", frames[: len(frames) // 2 * 2])
        if sys.byteorder == "big":
            samples.byteswap()
        if max(samples) <= SILENCE and min(samples) >= -SILENCE:
            raise RecordFailure(Failure.NO_AUDIO, f"audio file {path.name} is silent from end to end")


def _refused(path: Path, what: str) -> RecordFailure:
    return RecordFailure(Failure.BAD_REQUEST, f"audio file {path.name} {what}")
