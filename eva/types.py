"""The border types: what one step hands to the next. All frozen; no behaviour beyond small derived views.

Labels are strings everywhere below the settings (`"3"`, `"true"`, `"success"`): one spelling in data, verdicts, tables
and reports. A scale that has an order also gives each label a number (`Scale.values`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

NOT_APPLICABLE = "not_applicable"
"""The label of an item that the judge, or a person, says there is nothing to rate in. Never a class of the scale."""

Speaker = Literal["user", "assistant"]
EventType = Literal["user", "assistant", "tool_call", "tool_response"]


class Failure(StrEnum):
    """Why there is no verdict. The closed list; a failure is wrong for its gold class and is never a class itself."""

    NO_JSON = "no_json"  # the reply holds no JSON value that could be the verdict
    NO_VERDICT = "no_verdict"  # a JSON value is there, the field that holds the label is not
    OFF_SCALE = "off_scale"  # the field holds something that is not a label of the scale
    ABSTAINED = "abstained"  # "not applicable" or null for an item that has something to rate
    SKIPPED = "skipped"  # the reply leaves this item out
    REPEATED = "repeated"  # the reply rates this item twice, differently
    AMBIGUOUS = "ambiguous"  # several candidates, no rule that picks one
    TRUNCATED = "truncated"  # the token limit ended the reply
    UNFINISHED_REASONING = "unfinished_reasoning"  # a think block that never closes
    EMPTY = "empty"  # no content at all
    REFUSED = "refused"  # the model declined in prose
    FILTERED = "filtered"  # the provider's content filter
    NO_AUDIO = "no_audio"  # the judge says that it heard nothing
    TOO_LONG = "too_long"  # prompt and record do not fit the context
    BAD_REQUEST = "bad_request"  # the provider rejects this request for good
    PROVIDER = "provider"  # still failing after all retries
    NOT_RECORDED = "not_recorded"  # a recorded client has no reply for this record and repeat


@dataclass(frozen=True)
class Event:
    """One thing that happened in a conversation."""

    turn_id: int
    """The user's utterance and all that answers it share a turn id; the greeting is turn 0."""
    type: EventType
    text: str | None = None
    """What was said (user, assistant)."""
    name: str | None = None
    """The tool (tool_call, tool_response)."""
    arguments: Mapping[str, Any] | None = None
    response: Any = None
    status: str | None = None
    spoken: str | None = None
    """What was really said or heard, where it differs from `text` (audio records' synthesis plan). Never sent."""


@dataclass(frozen=True)
class Annotation:
    """One person's (or one policy's) label of one item."""

    label: str
    annotator: str
    flags: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    """Ids of the rubric rules that the item tests."""
    provenance: str = ""
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else came with it: time, prompt version, a trace link, labels of single dimensions."""


@dataclass(frozen=True)
class Item:
    """What carries a label: the record, a turn in it, or (turn, dimension)."""

    item_id: str
    """`record`, `record#3` or `record#3/dimension`: unique in a dataset, the same in every run."""
    record_id: str
    cluster: str
    turn_id: int | None = None
    dimension: str | None = None
    language: str = "en"
    domain: str = ""
    split: str = ""
    annotations: tuple[Annotation, ...] = ()
    """The first is the gold label; empty where nobody labelled it."""

    @property
    def gold(self) -> Annotation | None:
        return self.annotations[0] if self.annotations else None


@dataclass(frozen=True)
class Record:
    """One dataset row: a conversation with its context, and the labels of its items (which no request ever sees)."""

    record_id: str
    cluster: str
    events: tuple[Event, ...]
    language: str = "en"
    domain: str = ""
    split: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    """agent_role, agent_instructions, tools, current_date_time, pipeline, scenario, golden_turns, … : sent to judges."""
    labels: Mapping[str, tuple[Annotation, ...]] = field(default_factory=dict)
    """By item key: `record`, `turn:3`, `turn:3/kb_grounding`."""
    audio: str | None = None
    """Path of the sound, relative to the dataset file."""


@dataclass(frozen=True)
class Dataset:
    """Records, and everything that says which records these are."""

    name: str
    records: tuple[Record, ...]
    sha256: str
    """Of the content that judges and metrics see, labels included; independent of the file's name and line ends."""
    reader: str
    """Name and version of the reader."""
    notes: tuple[str, ...] = ()
    """What the reader left out or filled in, in words, with counts."""


@dataclass(frozen=True)
class Scale:
    """The labels of a judge, worst first."""

    labels: tuple[str, ...]
    ordinal: bool
    allows_not_applicable: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other spellings that count as a label; nothing else is mapped."""

    @property
    def values(self) -> tuple[float, ...] | None:
        """A number per label on an ordinal scale: the label itself where it is one, else its place."""
        if not self.ordinal:
            return None
        try:
            return tuple(float(label) for label in self.labels)
        except ValueError:
            return tuple(float(place) for place in range(len(self.labels)))


@dataclass(frozen=True)
class JudgeSpec:
    """A judge as its config states it. `unit` names the code in `eva/judges` that knows its items and its reply."""

    name: str
    unit: str
    title: str
    scale: Scale
    label_field: str
    """The key of the reply that holds the label (`rating`)."""
    reason_field: str
    dimensions: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    flags_field: str = ""
    speaker: Speaker = "assistant"
    """Whose turns a judge of turns rates."""
    modality: Literal["text", "audio"] = "text"
    variables: tuple[str, ...] = ()
    """The record variables that the prompt uses: all of them, and no other."""
    optional: Mapping[str, str] = field(default_factory=dict)
    """Variable -> the text that stands for it where a record has none."""
    dataset: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What only this unit knows (`overall: min`, `entities_field`, `passthrough`, …)."""


@dataclass(frozen=True)
class CompiledPrompt:
    """A judge's prompt with fragments and guidance in place and only record variables open (`{{ name }}`)."""

    judge: str
    version: str
    language: str
    pipeline: str
    system: str
    """The rubric: the same for every record, so that its prefix can be cached."""
    user: str
    """The record's place: variables are put in here, once."""
    parts: Mapping[str, str]
    """Section or rule path (`sections.rules.spelled_codes`) -> its compiled text, in order: what a diff compares."""
    sha256: str
    """Of system and user text."""
    parent: str | None = None
    summary: str = ""
    draft: bool = False


@dataclass(frozen=True)
class ModelSpec:
    """Which model is asked, how, and what may be sent to it. Holds names of environment variables, never a key."""

    name: str
    """Its file in conf/model."""
    kind: Literal["local", "litellm", "endpoint", "recorded", "scripted"]
    id: str
    api_base: str | None = None
    key_env: str | None = None
    path: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    """Sent with each request: temperature, max_tokens, …"""
    structured_output: bool = False
    """Send the judge's reply contract as a JSON schema."""
    bounded_strings: int | None = None
    """Longest string, in characters, that the schema allows (small local models run away without)."""
    send_seed: bool = False
    """Send `seed = base + repeat`; otherwise repeats differ only by the model's own sampling."""
    allow_dropped: tuple[str, ...] = ()
    context_tokens: int | None = None
    concurrency: int = 8
    timeout_s: float = 300.0
    max_attempts: int = 6
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    price: Mapping[str, float] | None = None
    """USD per million tokens: input, output, cached_input. None: litellm's table, else unknown."""
    free: bool = False
    audio: bool = False
    default_limit: int | None = None
    """How many records, class-balanced, a bundled set is cut to unless `limit` is given."""


@dataclass(frozen=True)
class Request:
    """What is sent for one record. The digest covers everything that can change the answer, and nothing else."""

    record_id: str
    messages: tuple[Mapping[str, Any], ...]
    digest: str
    response_schema: Mapping[str, Any] | None = None
    audio_sha256: str | None = None
    audio_path: str | None = None


@dataclass(frozen=True)
class Usage:
    """Tokens as the provider counted them; None is unknown, never 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    audio_tokens: int | None = None


@dataclass(frozen=True)
class Reply:
    """What the model answered, raw; or an error, which is never served from the store."""

    record_id: str
    repeat: int
    digest: str
    text: str | None = None
    tool_arguments: str | None = None
    """The answer where a provider put it into a tool call."""
    reasoning: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    """The model that answered, as it named itself."""
    usage: Usage = field(default_factory=Usage)
    latency_s: float | None = None
    cost_usd: float | None = None
    cached: bool = False
    """Served from our store: costs nothing now."""
    error: Failure | None = None
    error_text: str = ""
    attempts: int = 1
    ask: int = 0
    """0: the first ask; n: the n-th re-ask of an unreadable reply."""
    created: str = ""
    client: str = ""
    """The library and version that sent it."""


@dataclass(frozen=True)
class Verdict:
    """What was read from one reply for one item: a label, or a failure. Exactly one of the two is None."""

    item_id: str
    record_id: str
    repeat: int
    label: str | None = None
    failure: Failure | None = None
    flags: tuple[str, ...] = ()
    reason: str = ""
    model_label: str | None = None
    """The label as the model stated it, where a rule of ours gives `label` (overall = minimum of dimensions)."""
    broken_rules: tuple[str, ...] = ()
    """Rules of the reply contract that this reply broke."""
    dimensions: Mapping[str, str] = field(default_factory=dict)
    repaired: bool = False
    """The verdict stood in prose, a fence or a think block's tail."""
