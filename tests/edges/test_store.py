"""The reply store: what was put is there, whatever happens to the process, the file, the disk or the text."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from eva.edges.store import ReplyStore
from eva.edges.store_schema import STEPS, VERSION
from eva.errors import StoreError
from eva.types import Failure, Reply, Usage

ROOT = Path(__file__).resolve().parents[2]


def reply(number: int = 0, *, repeat: int = 0, text: str | None = "{}", ask: int = 0) -> Reply:
    return Reply(
        record_id=f"r{number}", repeat=repeat, digest=f"{number:064x}", text=text, finish_reason="stop", model="m-1",
        usage=Usage(input_tokens=10, output_tokens=2), latency_s=0.5, cost_usd=0.01,
        created=f"2026-01-{number % 28 + 1:02d}", client="test", ask=ask,
    )  # fmt: skip


def test_a_reply_comes_back_as_it_was_marked_as_stored(tmp_path: Path) -> None:
    given = replace(reply(), tool_arguments='{"a": 1}', reasoning="hm", attempts=3)
    with ReplyStore(tmp_path / "s") as store:
        store.put(given)
        assert store.get(given.digest, 0) == replace(given, cached=True)
        assert store.get(given.digest, 1) is None
        assert store.get("f" * 64, 0) is None


@pytest.mark.parametrize("text", ["é 確 हिन्दी \u2028\u0085", "\ud83d lone", "\x00\x01\x1f", "a" * 5_000_000, "", None])
def test_any_text_survives(tmp_path: Path, text: str | None) -> None:
    with ReplyStore(tmp_path / "s") as store:
        store.put(replace(reply(text=text), record_id="r\udcff", model="m\ud800"))
    with ReplyStore(tmp_path / "s") as store:
        found = store.get(reply().digest, 0)
    assert found is not None
    assert (found.text, found.record_id, found.model) == (text, "r\udcff", "m\ud800")


def test_the_first_reply_of_a_key_stays(tmp_path: Path) -> None:
    with ReplyStore(tmp_path / "s") as store:
        assert store.put(reply(text="first")).text == "first"
        assert store.put(reply(text="second")).text == "first"
        store.put(reply(text="re-ask", ask=1))
        assert store.get(reply().digest, 0).text == "first"  # type: ignore[union-attr]  # asserted by the comparison
        assert store.get(reply().digest, 0, 1).text == "re-ask"  # type: ignore[union-attr]  # as above


def test_errors_are_kept_apart_and_never_served(tmp_path: Path) -> None:
    failed = replace(reply(text=None), error=Failure.PROVIDER, error_text="HTTP 500 \ud83d")
    with ReplyStore(tmp_path / "s") as store:
        store.put(failed)
        store.put(failed)
        assert store.get(failed.digest, 0) is None
        assert [kind for kind, _ in store.errors(failed.digest, 0)] == ["provider", "provider"]
        store.put(reply())
        assert store.get(failed.digest, 0) is not None


def test_two_processes_write_and_read_at_once(tmp_path: Path) -> None:
    """Every reply of both is there; a key that both write holds one of theirs."""
    code = textwrap.dedent(
        """
        import sys
        from tests.edges.test_store import ReplyStore, reply
        base = int(sys.argv[2])
        with ReplyStore(sys.argv[1]) as store:
            for number in range(200):
                store.put(reply(base + number))
                store.put(reply(5000 + number, text=sys.argv[2]))
        """
    )
    path = tmp_path / "s"
    workers = [
        subprocess.Popen([sys.executable, "-c", code, str(path), str(base)], cwd=ROOT) for base in (0, 1000, 2000)
    ]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    with ReplyStore(path) as store:
        assert all(store.get(reply(base + n).digest, 0) for base in (0, 1000, 2000, 5000) for n in range(200))


def test_a_damaged_row_is_not_served_and_can_be_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "s"
    with ReplyStore(path) as store:
        store.put(reply(text="good"))
    with sqlite3.connect(path) as db:
        db.execute("UPDATE replies SET body=replace(body, 'good', 'evil')")
    db.close()
    with ReplyStore(path) as store:
        assert store.get(reply().digest, 0) is None
        assert "damaged" in caplog.text
        store.put(reply(text="new"))
        assert store.get(reply().digest, 0).text == "new"  # type: ignore[union-attr]  # asserted by the comparison


def filled(path: Path, count: int = 400) -> None:
    with ReplyStore(path) as store:
        for number in range(count):
            store.put(reply(number, text=f"text {number} " * 30))
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def test_a_file_with_a_broken_page_gives_what_can_be_read_and_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "replies.sqlite"
    filled(path)
    data = bytearray(path.read_bytes())
    half = len(data) // 2 // 4096 * 4096
    data[half : half + 8192] = os.urandom(8192)
    path.write_bytes(data)
    with ReplyStore(path) as store:
        found = [store.get(reply(number).digest, 0) for number in range(400)]
        kept = [number for number, one in enumerate(found) if one is not None]
        assert 300 < len(kept) < 400
        assert all(found[number].text == f"text {number} " * 30 for number in kept)  # type: ignore[union-attr]  # not None
        store.put(reply(999))
        assert store.get(reply(999).digest, 0) is not None
    assert "damaged" in caplog.text
    assert (tmp_path / "replies.sqlite.damaged-1").read_bytes() == bytes(data)


def test_a_cut_file_gives_what_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    filled(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 3 // 4])
    with ReplyStore(path) as store:
        assert sum(store.get(reply(number).digest, 0) is not None for number in range(400)) > 100


@pytest.mark.parametrize("content", [b"not a database, not at all" * 100, b"\x00" * 4096 * 4])
def test_a_file_that_cannot_be_read_at_all_is_said_so_and_stays(tmp_path: Path, content: bytes) -> None:
    """Beginning anew would pay for everything again: the user's choice, not ours."""
    path = tmp_path / "replies.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="move it away"):
        ReplyStore(path)
    assert path.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["replies.sqlite"]


def test_a_full_disk_stops_with_our_words_and_keeps_what_was_there(tmp_path: Path) -> None:
    with ReplyStore(tmp_path / "s") as store:
        store.put(reply(0))
        pages = store.query("PRAGMA page_count")[0][0]
        store.query(f"PRAGMA max_page_count={pages + 2}")
        store.put(reply(1, text="small"))
        with pytest.raises(StoreError, match="full"):
            store.put(reply(2, text="x" * 300_000))
    with ReplyStore(tmp_path / "s") as store:
        assert store.get(reply(0).digest, 0) is not None
        assert store.get(reply(1).digest, 0) is not None
        assert store.get(reply(2).digest, 0) is None


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be made"):
        ReplyStore(tmp_path / "file" / "replies.sqlite")


READ_ONLY = """
import sys
from tests.edges.test_store import ReplyStore, StoreError, reply
with ReplyStore(sys.argv[1]) as store:
    assert store.read_only
    assert store.get(reply(3).digest, 0).text
    for act in (store.check_writable, lambda: store.put(reply(99))):
        try:
            act()
        except StoreError as error:
            print(error)
        else:
            sys.exit("written?")
"""


@pytest.mark.skipif(os.name != "posix" or not shutil.which("setpriv"), reason="needs a second, unprivileged user")
def test_a_read_only_folder_serves_and_refuses_before_the_first_call(tmp_path: Path) -> None:
    path = tmp_path / "ro" / "replies.sqlite"
    filled(path, 10)
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(0o755)
    path.parent.chmod(0o555)
    path.chmod(0o444)
    user = [] if os.getuid() else ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    reach = subprocess.run(
        [*user, sys.executable, "-B", "-c", "import eva.edges.store, pytest"], cwd=ROOT, capture_output=True
    )
    if reach.returncode:
        path.parent.chmod(0o755)
        pytest.skip("the unprivileged user cannot read this Python or this checkout")
    try:
        done = subprocess.run(
            [*user, sys.executable, "-B", "-c", READ_ONLY, str(path)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        path.parent.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert "cannot be written" in done.stdout


def version_one(path: Path, rows: list[tuple[str, ...]]) -> None:
    db = sqlite3.connect(path)
    for statement in STEPS[0]:
        db.execute(statement)
    columns = "digest, repeat, ask, record_id, created, body, checksum"
    db.executemany(f"INSERT INTO replies ({columns}) VALUES (?,0,0,?,?,?,?)", rows)
    db.execute("PRAGMA user_version=1")
    db.commit()
    db.close()


def test_a_file_of_version_one_is_migrated_and_its_replies_are_served(tmp_path: Path) -> None:
    """The row is written out as version 1 wrote it."""
    body = (
        '{"ask":0,"attempts":1,"client":"x","cost_usd":null,"created":"2026-01-01","digest":"d1",'
        '"finish_reason":null,"latency_s":null,"model":null,"reasoning":null,"record_id":"r1","repeat":0,'
        '"text":"hello","tool_arguments":null,'
        '"usage":{"audio_tokens":null,"cached_tokens":null,"input_tokens":1,"output_tokens":2,"reasoning_tokens":null}}'
    )
    path = tmp_path / "s"
    version_one(path, [("d1", "r1", "2026-01-01", body, "e7ecd5056fe26098")])
    with ReplyStore(path) as store:
        assert store.query("PRAGMA user_version")[0][0] == VERSION == 2
        found = store.get("d1", 0)
        assert found is not None
        assert (found.text, found.usage.output_tokens) == ("hello", 2)


def test_a_file_of_a_newer_eva_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s"
    ReplyStore(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version={VERSION + 1}")
    db.close()
    with pytest.raises(StoreError, match="newer eva"):
        ReplyStore(path)


def test_many_processes_create_one_file(tmp_path: Path) -> None:
    """C51: the first start of a sweep."""
    code = (
        "import sys; from tests.edges.test_store import ReplyStore, reply; s = ReplyStore(sys.argv[1]);"
        "s.put(reply(int(sys.argv[2]))); s.close()"
    )
    path = tmp_path / "new" / "replies.sqlite"
    workers = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)], cwd=ROOT) for n in range(6)]
    assert [worker.wait(60) for worker in workers] == [0] * 6
    with ReplyStore(path) as store:
        assert all(store.get(reply(n).digest, 0) for n in range(6))


KILLED_AT = """
import os, sys
from pathlib import Path
from eva.edges.store import ReplyStore
real, count = os.replace, 0
def replace(a, b):
    global count
    count += 1
    if count == int(sys.argv[2]):
        os.kill(os.getpid(), 9)
    return real(a, b)
os.replace = replace
with ReplyStore(Path(sys.argv[1])) as store:
    [store.get(f"{number:064x}", 0) for number in range(400)]
"""


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_a_repair_that_is_killed_at_any_step_is_ended_by_the_next_process(tmp_path: Path, step: int) -> None:
    """Between the damaged file's going and the new one's coming there is none: beginning an empty one would pay for all again."""
    path = tmp_path / "replies.sqlite"
    filled(path)
    data = bytearray(path.read_bytes())
    half = len(data) // 2 // 4096 * 4096
    data[half : half + 8192] = b"\xa5" * 8192
    path.write_bytes(data)
    done = subprocess.run([sys.executable, "-c", KILLED_AT, str(path), str(step)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    with ReplyStore(path) as store:
        assert 300 < sum(store.get(f"{number:064x}", 0) is not None for number in range(400)) < 400
    left = {entry.name for entry in tmp_path.iterdir()}
    assert {"replies.sqlite", "replies.sqlite.damaged-1"} <= left
    assert not {name for name in left if name.endswith((".repair", ".repaired", ".new"))}


def test_a_repair_that_another_process_is_at_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "replies.sqlite"
    filled(path)
    path.rename(tmp_path / "replies.sqlite.repaired")
    (tmp_path / "replies.sqlite.repair").write_text(str(os.getppid()))
    with pytest.raises(StoreError, match="another process repairs it"):
        ReplyStore(path)
    assert not path.exists()
