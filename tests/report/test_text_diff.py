"""What changed inside a part of a prompt, sentence by sentence."""

from __future__ import annotations

from eva.report.text_diff import pieces


def signs(before: str | None, after: str | None) -> list[tuple[str, str]]:
    return [(piece.sign, piece.text) for piece in pieces(before, after)]


def test_only_the_sentences_that_changed_are_shown_with_one_beside_them() -> None:
    """The rest is counted."""
    assert signs("A. B. C. D. E. F.", "A. B. C. X. E. F.") == [
        ("…", "2 unchanged sentences"),
        (" ", "C."),
        ("-", "D."),
        ("+", "X."),
        (" ", "E."),
        ("…", "1 unchanged sentence"),
    ]


def test_a_new_line_width_is_no_change() -> None:
    """Lines that only the file's width broke are one sentence."""
    assert signs("A phrase that is\nbroken here. B.", "A phrase\nthat is broken here. B.") == []


def test_list_items_json_and_blank_lines_start_anew() -> None:
    """Joining them would hide what a rule is."""
    text = 'Rate:\n- one\n- two\n\n{\n  "rating": 1\n}\n# Title\ntext'
    shown = [piece.text for piece in pieces(None, text)]

    assert shown == ["Rate:", "- one", "- two", "{", '"rating": 1', "}", "# Title", "text"]


def test_a_part_that_is_new_or_gone_is_all_plus_or_minus() -> None:
    """None is a part that does not exist."""
    assert signs(None, "A. B.") == [("+", "A."), ("+", "B.")]
    assert signs("A.", None) == [("-", "A.")]
    assert signs("A.", "A.") == []
    assert signs(None, None) == []


def test_sentences_end_in_every_script() -> None:
    """Japanese and Hindi full stops count where a space follows."""
    assert [piece.text for piece in pieces(None, "はい。 いいえ。 हाँ। नहीं।")] == ["はい。", "いいえ。", "हाँ।", "नहीं।"]
