"""What in a reply's text is thought or refusal and not the answer."""

from __future__ import annotations

import re
from bisect import bisect_right

from eva.replies.json_values import Values

_NAMES = (
    r"(?:seed:|ant)?(?:think|thinking|thought|thoughts|reasoning|analysis|scratchpad|reflection|chain_of_thought"
    r"|reasoning_content|thinking_process|thought_process|internal_monologue)"
)
_OPENING = re.compile(
    rf"<{_NAMES}(?:\s[^<>]{{0,200}})?>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>"
    r"|<\|channel\|>(?:analysis|commentary)",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    rf"</{_NAMES}\s{{0,9}}>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>|<\|channel\|>final(?:<\|message\|>)?",
    re.IGNORECASE,
)
"""How models that think aloud mark it: most with a tag, some with a channel of their own for the answer."""
_REFUSAL = re.compile(
    r"[\s\"“*]*(?:i['’]?m (?:very |really )?sorry|i am (?:very |really )?sorry|sorry,|i apologi[sz]e|i can(?:no|['’])t|i cannot"
    r"|i['’]?m (?:unable|not able)|i am (?:unable|not able)|i won['’]t|as an ai\b|unfortunately, i"
    r"|es tut mir leid|tut mir leid|ich kann (?:das|dies|dabei|hier|keine|nicht|leider)|het spijt me"
    r"|ik kan (?:dit|dat|geen|niet|hier)"
    r"|(?:je suis )?désolée?\b|je ne peux pas|lo siento|no puedo|mi dispiace|non posso"
    r"|मुझे खेद है|क्षमा करें|मैं इस|죄송|申し訳|すみません)",
    re.IGNORECASE,
)


def after_thought(text: str, values: Values) -> str | None:
    """The text after the last closing tag of a thought; the text itself where there is none; None where a thought never closes.

    A tag inside a JSON value of the text (`values`), or inside one that the end cuts off, is somebody's words.
    """
    starts = [found.start for found in values.found]

    def inside(position: int) -> bool:
        place = bisect_right(starts, position) - 1
        return place >= 0 and position < values.found[place].end

    closings = [match.end() for match in _CLOSING.finditer(text) if not inside(match.start())]
    begin = closings[-1] if closings else 0
    end = len(text) if values.unterminated_at is None else max(begin, values.unterminated_at)
    if any(not inside(match.start()) for match in _OPENING.finditer(text, begin, end)):
        return None
    return text[begin:] if begin else text


def opens_like_a_refusal(text: str) -> bool:
    """Whether the model declines in prose, in any of the languages of `conf/language`."""
    return _REFUSAL.match(text) is not None
