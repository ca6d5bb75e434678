"""How the agent programs are called and what their output means; starts nothing, and repeats nothing they print."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from engine.providers.chat import ChatReply, ChatRequest, Role, Stop, Usage
from engine.providers.faults import ModelFault, classify
from engine.providers.reading import NotJson, count, items, mapping, parsed, text

GUARD: Final = "\u2060"
"""An invisible joiner; behind an ``@`` it keeps a program from taking a word for a file to read and send along."""
# Wherever it is no part of an address: what counts as a mention differs between programs and releases.
_MENTION: Final = re.compile(r"(?<![A-Za-z0-9_.+-])@(?=\S)")
_OPENING: Final = "Answer exactly what the following text asks, with nothing around the answer and without any tool."
_UNKNOWN_OPTION: Final = re.compile(r"(?:unknown option|unexpected argument) '(--?[\w-]+)")
SCHEMA_FILE: Final = "answer-schema.json"


class Failed(Exception):
    """A program brought no answer for this reason; ``status`` is the HTTP status it told of."""

    def __init__(self, fault: ModelFault, status: int | None = None) -> None:
        super().__init__(fault.value)
        self.fault: Final = fault
        self.status: Final = status


class TooOld(Failed):
    """A release of a program does not know an ``option`` without which it is not asked."""

    def __init__(self, option: str) -> None:
        super().__init__(ModelFault.OUTDATED)
        self.option: Final = option


@dataclass(frozen=True, slots=True)
class Option:
    """An option and its values; one that is not ``needed`` is left out where a release does not know it."""

    name: str
    values: tuple[str, ...] = ()
    needed: bool = False


class Dialect(Protocol):
    """One agent program."""

    @property
    def program(self) -> str:
        """Its name on PATH."""
        ...

    def options(self, model: str, schema: bool) -> tuple[Option, ...]:
        """How it is called; ``schema``: the folder holds ``SCHEMA_FILE``. Nothing of a prompt is in it."""
        ...

    def reply(self, out: str, model: str) -> ChatReply:
        """The answer in what it printed. Raises ``Failed``."""
        ...


@dataclass(frozen=True, slots=True)
class Claude:
    """Claude Code: ``claude -p``, one JSON document."""

    program: str = "claude"

    def options(self, model: str, schema: bool) -> tuple[Option, ...]:
        """Without tools, hooks and servers, or not at all; without a stored session as far as the release can."""
        return (
            Option("-p", needed=True),
            Option("--output-format", ("json",), needed=True),
            *([Option("--model", (model,), needed=True)] if model else []),
            Option("--max-turns", ("1",)),
            Option("--tools", ("",), needed=True),
            Option("--safe-mode"),
            Option("--strict-mcp-config", needed=True),
            Option("--disable-slash-commands"),
            Option("--no-session-persistence"),
            Option("--settings", ('{"permissions":{"deny":["Read(//**)"]},"disableAllHooks":true}',), needed=True),
            Option("--system-prompt", (_OPENING,)),
        )

    def reply(self, out: str, model: str) -> ChatReply:
        """The answer in the result document. Raises ``Failed``."""
        document = _result_of(out)
        said, status = document.get("result"), document.get("api_error_status")
        if document.get("is_error") or document.get("subtype", "success") != "success":
            raise _failure(text(said), status if isinstance(status, int) else None)
        if not isinstance(said, str):
            raise Failed(ModelFault.BAD_ANSWER)
        counts = mapping(document.get("usage"))
        names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        usage = Usage(*(count(counts.get(name)) for name in names)) if counts else None
        stop = {"max_tokens": Stop.LENGTH, "refusal": Stop.REFUSED}.get(str(document.get("stop_reason")), Stop.END)
        return ChatReply(text(said), _used(document.get("modelUsage"), model) or self.program, stop, usage)


@dataclass(frozen=True, slots=True)
class Codex:
    """Codex CLI: ``codex exec``, one JSON event a line."""

    program: str = "codex"

    def options(self, model: str, schema: bool) -> tuple[Option, ...]:
        """In a sandbox that only reads, with hooks, servers and shell switched off where the release has such switches."""
        off = ("hooks", "apps", "plugins", "shell_tool", "multi_agent", "memories")
        settings = ("mcp_servers={}", 'web_search="disabled"', *(f"features.{name}=false" for name in off))
        return (
            Option("exec", needed=True),
            Option("--json", needed=True),
            *([Option("--model", (model,), needed=True)] if model else []),
            Option("--skip-git-repo-check", needed=True),
            Option("--sandbox", ("read-only",), needed=True),
            Option("--ephemeral"),
            Option("--ignore-rules"),
            *([Option("--output-schema", (SCHEMA_FILE,))] if schema else []),
            *(Option("-c", (setting,), needed=True) for setting in settings),
            Option("-", needed=True),
        )

    def reply(self, out: str, model: str) -> ChatReply:
        """The answer in the events. Raises ``Failed``."""
        heard = _Heard()
        for line in out.splitlines():
            heard.add(_event(line))
        if heard.failure is not None and not heard.ended:
            raise _failure(heard.failure, None)
        if heard.said is None:
            raise Failed(ModelFault.BAD_ANSWER)
        return ChatReply(heard.said, model or self.program, Stop.END if heard.ended else Stop.INCOMPLETE, heard.usage)


@dataclass(slots=True)
class _Heard:
    """What the events of one call of codex have told so far; the last message is the answer."""

    said: str | None = None
    usage: Usage | None = None
    failure: str | None = None
    ended: bool = False

    def add(self, event: Mapping[str, object]) -> None:
        match event.get("type"):
            case "item.completed":
                item = mapping(event.get("item"))
                # Items of type error are warnings; what failed is told by turn.failed.
                if item.get("type") == "agent_message" and isinstance(item.get("text"), str):
                    self.said = text(item.get("text"))
            case "turn.completed":
                self.ended = True
                self.usage = _codex_usage(event.get("usage"))
            case "turn.failed":
                self.failure = text(mapping(event.get("error")).get("message"))
            case "error":
                self.failure = text(event.get("message"))


def prompt_of(request: ChatRequest) -> str:
    """The request as one text for standard input; a program takes no word of it for a command or a file."""
    parts = [_OPENING, request.system]
    alone = len(request.messages) == 1
    for message in request.messages:
        speaker = "" if alone else "Assistant:\n" if message.role is Role.ASSISTANT else "User:\n"
        parts.append(speaker + message.text)
    return _MENTION.sub(f"@{GUARD}", "\n\n".join(part for part in parts if part))


def unguarded(reply: str) -> str:
    """An answer without the joiners that ``prompt_of`` put in."""
    return reply.replace(f"@{GUARD}", "@")


def unknown_option(err: str) -> str | None:
    """The option a program says it does not know."""
    found = _UNKNOWN_OPTION.search(err)
    return found.group(1) if found else None


# What the programs say in words alone, as their people see it.
_PHRASES: Final = (
    (r"not logged in|/login|codex login|log ?in again|unauthorized|\b401\b|authenticat", ModelFault.AUTH),
    (r"credit balance|insufficient|quota exceeded|billing", ModelFault.NO_CREDIT),
    (r"(usage|rate) limit|limit reached|too many requests|\b429\b|hit your .{0,30}limit", ModelFault.RATE_LIMITED),
    (r"prompt is too long|context (window|length)|input exceeds", ModelFault.TOO_LONG),
    (r"overloaded|at capacity|\b5(03|29)\b", ModelFault.OVERLOADED),
    (r"selected model|model.{0,60}(not supported|does not exist|not found)|\b404\b", ModelFault.NOT_FOUND),
    (r"connect|network|resolve|lookup address|stream disconnected", ModelFault.CONNECTION),
)


def fault_of_words(said: str) -> ModelFault:
    """The fault behind what a program says to its person; the program's own where nothing is recognised."""
    return next((fault for phrase, fault in _PHRASES if re.search(phrase, said, re.I)), ModelFault.SERVER)


def _failure(said: str, status: int | None) -> Failed:
    if status is None:
        return Failed(fault_of_words(said))
    return Failed(classify(status, {"error": {"message": said}}), status)


def _result_of(out: str) -> Mapping[str, object]:
    """The result among what claude printed: one document, or with its verbose setting a list that ends in it."""
    try:
        document = parsed(out)
    except NotJson:
        raise Failed(ModelFault.BAD_ANSWER) from None
    candidates = [document] if isinstance(document, dict) else items(document)
    found = next((each for each in map(mapping, reversed(candidates)) if each.get("type") == "result"), None)
    if found is None:
        raise Failed(ModelFault.BAD_ANSWER)
    return found


def _used(usage: object, wanted: str) -> str:
    """The wanted model if it was used, else the one that wrote most: small ones are used on the side."""
    models = {str(name): count(mapping(each).get("outputTokens")) for name, each in mapping(usage).items()}
    return wanted if wanted in models else max(models, key=lambda name: models[name], default=wanted)


def _event(line: str) -> Mapping[str, object]:
    try:
        return mapping(parsed(line)) if line.strip() else {}
    except NotJson:
        return {}


def _codex_usage(value: object) -> Usage | None:
    """Its input counts include what came from the cache."""
    told = mapping(value)
    if not told:
        return None
    cached, written = count(told.get("cached_input_tokens")), count(told.get("cache_write_input_tokens"))
    whole = count(told.get("input_tokens"))
    return Usage(max(whole - cached - written, 0), count(told.get("output_tokens")), cached, written)
