"""The vocabulary of a script: what the model server does with one request; describes only, sends nothing."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Shape(StrEnum):
    """How the JSON of an answer is written down; models do all of these.

    ``PLAIN`` follows the schema of the request, if it has one, as a real server would; ``AS_IS`` is never touched.
    """

    PLAIN = "plain"
    AS_IS = "as_is"
    FENCED = "fenced"
    PROSE = "prose"
    WRAPPED = "wrapped"
    TRAILING_COMMA = "trailing_comma"
    SINGLE = "single"
    EMPTY = "empty"
    BROKEN = "broken"


class Ending(StrEnum):
    """Why the model stopped; a text longer than the request's ``max_tokens`` ends with ``LENGTH`` by itself."""

    END = "end"
    LENGTH = "length"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Say:
    """An answer; ``piece`` is the characters of one streamed chunk, ``cached`` the prompt tokens read from a cache.

    With ``tool`` the text is the JSON a tool of this name is called with; a tool the request forces is called anyway.
    """

    text: str = "[]"
    shape: Shape = Shape.PLAIN
    reasoning: str = ""
    ending: Ending = Ending.END
    piece: int = 12
    usage: bool = True
    cached: int = 0
    tool: str = ""


EMPTY: Final = Say()


@dataclass(frozen=True, slots=True)
class Delay:
    """Answer late: seconds before the headers, and between two chunks of a stream."""

    before: float = 0.0
    between: float = 0.0
    answer: Say = EMPTY


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection after so many characters of a streamed text, or bytes of a whole body.

    ``reset`` ends it with a TCP reset instead of an orderly close.
    """

    after_chars: int = 0
    answer: Say = EMPTY
    reset: bool = False


@dataclass(frozen=True, slots=True)
class HangUp:
    """Read the request and close the connection without a word."""

    reset: bool = False


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP error in the protocol's own shape; ``retry_after`` in seconds, or a date as servers also send it.

    Without a ``message`` the error repeats key and prompt, as real servers do: a client must not pass that on.
    ``raw`` is a whole body of another kind, as the proxies between send.
    """

    status: int
    type: str | None = None
    retry_after: float | str | None = None
    message: str | None = None
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorAfter200:
    """A stream that begins well and then reports an error; without streaming, status 200 with an error in the body."""

    after_chars: int = 0
    answer: Say = EMPTY
    type: str = "overloaded_error"


@dataclass(frozen=True, slots=True)
class Malformed:
    """A chunk that is not what the protocol allows, after so many characters; ``goes_on`` sends the rest afterwards.

    Without streaming ``chunk`` is the whole body.
    """

    after_chars: int = 0
    answer: Say = EMPTY
    chunk: str = '{"choices": [{"delta": {"content": "bro'
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Hang:
    """Send nothing more until the client gives up: before the headers, or after so many characters of the text."""

    after_chars: int | None = None
    answer: Say = EMPTY


@dataclass(frozen=True, slots=True)
class Redirect:
    """Send the client elsewhere: a path, or a URL of another host."""

    to: str
    status: int = 307


@dataclass(frozen=True, slots=True)
class SlowBytes:
    """Send the answer a byte at a time, with a pause in seconds before each."""

    between: float = 0.01
    answer: Say = EMPTY


@dataclass(frozen=True, slots=True)
class CloseKeepAlive:
    """Answer well and promise keep-alive, then close: at the connection's next request, or at once.

    At the next request is what a client meets that reuses a connection in the moment the server closes it.
    """

    answer: Say = EMPTY
    at_next_request: bool = True


@dataclass(frozen=True, slots=True)
class RefuseSchema:
    """Refuse a schema for the answer (400) as long as requests ask for one, then answer.

    ``weaker`` accepts what is asked for instead: any JSON object at OpenAI, a forced tool at Anthropic.
    """

    answer: Say = EMPTY
    weaker: bool = True


@dataclass(frozen=True, slots=True)
class RefuseMaxTokens:
    """Refuse one name of the token limit (400) as long as requests use it, then answer.

    ``field`` is the refused name: ``max_tokens`` as by newer models, ``max_completion_tokens`` as by older servers.
    """

    answer: Say = EMPTY
    field: str = "max_tokens"


Step = (
    Say | Delay | Cut | HangUp | Fail | ErrorAfter200 | Malformed | Hang
    | Redirect | SlowBytes | CloseKeepAlive | RefuseSchema | RefuseMaxTokens
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class When:
    """A rule: every text in ``contains`` is in the prompt → this step; ``times`` bounds how often, None means always."""

    contains: str | tuple[str, ...]
    answer: Step = field(default=EMPTY)
    times: int | None = None

    def fits(self, prompt: str) -> bool:
        """Whether the rule is about this prompt; upper and lower case are different."""
        wanted = (self.contains,) if isinstance(self.contains, str) else self.contains
        return all(text in prompt for text in wanted)


def answer_of(step: Step) -> Say:
    """What the model says in a step, however it is delivered; the empty array for steps that say nothing."""
    if isinstance(step, Say):
        return step
    return EMPTY if isinstance(step, HangUp | Fail | Redirect) else step.answer
