"""Agent configurations and sounds: found beside the dataset, never outside its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from eva.edges.datasets import DatasetSpec, audio_path, load_dataset
from eva.errors import DataError
from tests.edges.datasets.dataset_builders import load, row, write

AGENT = """
agent_role: You answer calls of a railway.
agent_instructions: |
  Ask for the booking code.
tools:
  - {name: next_train, since: 2026-03-17}
"""


def agents(folder: Path, text: str = AGENT, name: str = "rail.yaml") -> None:
    """Write an agent's configuration beside the dataset."""
    (folder / "agents").mkdir(exist_ok=True)
    (folder / "agents" / name).write_text(text, encoding="utf-8")


def test_an_agent_is_filled_in_and_the_record_wins(tmp_path: Path) -> None:
    """The configuration gives defaults; what the record states itself stays; dates are text."""
    agents(tmp_path)
    context = load(tmp_path, row(context={"agent": "rail", "agent_role": "Another."})).records[0].context
    assert context == {
        "agent_role": "Another.",
        "agent_instructions": "Ask for the booking code.\n",
        "tools": [{"name": "next_train", "since": "2026-03-17"}],
    }


@pytest.mark.parametrize("name", ["../rail", "/etc/passwd", "rail.yaml", "Rail", "", 7, "rail\x00"])
def test_an_agent_has_a_plain_name(tmp_path: Path, name: object) -> None:
    """A name cannot become a path."""
    agents(tmp_path)
    with pytest.raises(DataError, match=r"line 1, field `context\.agent`"):
        load(tmp_path, row(context={"agent": name}))


def test_an_unknown_agent_lists_those_there_are(tmp_path: Path) -> None:
    """The message names what exists."""
    agents(tmp_path)
    with pytest.raises(DataError, match=r"no agents/hotel\.yaml beside the file, only: rail"):
        load(tmp_path, row(context={"agent": "hotel"}))


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """A symbolic link in agents/ or in the sound's path does not lead outside."""
    inner = tmp_path / "inner"
    (inner / "agents").mkdir(parents=True)
    (tmp_path / "secret.yaml").write_text(AGENT, encoding="utf-8")
    (inner / "agents" / "rail.yaml").symlink_to(tmp_path / "secret.yaml")
    with pytest.raises(DataError, match="leaves the folder agents/"):
        load(inner, row(context={"agent": "rail"}))
    (inner / "sound").symlink_to(tmp_path)
    with pytest.raises(DataError, match=r"field `audio`: 'sound/secret\.yaml' leaves the folder inner/"):
        load(inner, row(audio="sound/secret.yaml"))


@pytest.mark.parametrize("path", ["../a.wav", "/etc/passwd", "a/../../b.wav", "..\\a.wav", "  "])
def test_a_sound_stays_below_the_dataset(tmp_path: Path, path: str) -> None:
    """Absolute paths, steps upwards and other systems' separators are refused."""
    with pytest.raises(DataError, match="line 1, field `audio`"):
        load(tmp_path, row(audio=path))


def test_a_missing_sound_is_counted_not_refused(tmp_path: Path) -> None:
    """Sets may come before their sound; the note says how many lack it, and the full path is given."""
    spec = DatasetSpec(path=str(write(tmp_path, row(audio="sound/a.wav"))))
    dataset = load_dataset(spec)
    assert any("name a sound that is not there" in note for note in dataset.notes)
    assert audio_path(spec, dataset.records[0]) == tmp_path / "sound" / "a.wav"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "is not YAML"),
        ("!!python/object/apply:os.system ['true']", "is not YAML"),
        ("- x", "not keys and values"),
        ("instruction: x", "has none of agent_role"),
        ("tools: x", "field `tools`: is 'x', not a list"),
        ("a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
            f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]\n"
            for a, b in zip("abcdefgh", "bcdefghi", strict=True)), "aliases written out"),
        ("tools: &t [*t]", "contains itself"),
    ],
)  # fmt: skip
def test_an_agent_file_is_plain_small_data(tmp_path: Path, text: str, said: str) -> None:
    """No objects, no bombs of aliases, no file without any key that is read."""
    agents(tmp_path, text)
    with pytest.raises(DataError, match=said):
        load(tmp_path, row(context={"agent": "rail"}))


def test_one_configuration_for_all_records(tmp_path: Path) -> None:
    """`agent_config` gives role, instructions and tools to records without their own, and says to how many."""
    file = tmp_path / "other.yaml"
    file.write_text("role: R\ninstructions: I\ntools: []\nname: unused\n", encoding="utf-8")
    own = {"agent_role": "r", "agent_instructions": "i", "tools": [{"name": "t"}]}
    dataset = load(tmp_path, row("a"), row("b", context=own), agent_config=str(file))
    assert dataset.records[0].context == {"agent_role": "R", "agent_instructions": "I", "tools": []}
    assert dataset.records[1].context == own
    assert "1 records got the agent's configuration from other.yaml" in dataset.notes
