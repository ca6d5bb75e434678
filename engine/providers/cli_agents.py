"""Asks the agent programs a person already has, ``claude`` and ``codex``, as if they were models.

Never needs them, never puts a prompt on a command line, never lets one act: no project around it, and a release that
cannot be told to leave tools and hooks alone is not asked.
"""

import json
import logging
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from engine.errors import ModelFailed, ModelUnavailable
from engine.providers import cli_child
from engine.providers.chat import ChatReply, ChatRequest, Delta
from engine.providers.cli_dialects import (
    SCHEMA_FILE,
    Claude,
    Codex,
    Dialect,
    Failed,
    Option,
    TooOld,
    fault_of_words,
    prompt_of,
    unguarded,
    unknown_option,
)
from engine.providers.faults import TABLE, Explained, ModelFault
from engine.providers.schemas import is_object, is_strict
from engine.settings_providers import ProviderKind

PATIENCE_S: Final = 300.0
DIALECTS: Final[Mapping[str, Dialect]] = {ProviderKind.CLAUDE_CLI: Claude(), ProviderKind.CODEX_CLI: Codex()}
_LOG_IN: Final = {"claude": "run claude once and log in", "codex": "run codex login"}
_EXPLAINED: Final = {
    ModelFault.AUTH: Explained("it is not logged in"),
    ModelFault.NOT_FOUND: Explained("it does not know that model", "choose another of its models"),
    ModelFault.CONNECTION: Explained("it has no connection", "check the network, then try again"),
    ModelFault.TIMEOUT: Explained("no answer in time", "try again later"),
    ModelFault.SERVER: Explained("it failed", "run it by hand to see what it says"),
    ModelFault.BAD_ANSWER: Explained("its output is not understood", "update it"),
}
_log = logging.getLogger(__name__)

Permit = Callable[[], AbstractAsyncContextManager[object]]


class CliAgentModel:
    """A ``ChatModel`` behind an agent program; without a model's name the program uses its own choice.

    ``patience`` is the seconds one call may take, ``permit`` what has to be held while the program runs. Raises
    ``ModelUnavailable`` when the program is not on PATH.
    """

    def __init__(
        self,
        kind: str,
        provider: str,
        model: str = "",
        *,
        environ: Mapping[str, str] = os.environ,
        patience: float = PATIENCE_S,
        permit: Permit = nullcontext,
    ) -> None:
        self._dialect = DIALECTS[kind]
        self._provider = provider
        self._model = model
        self._environ = environ
        self._patience = patience
        self._permit = permit
        self._without: frozenset[str] = frozenset()
        self._program()

    def __repr__(self) -> str:
        return f"CliAgentModel({self._provider!r}, {self._model!r})"

    @property
    def provider(self) -> str:
        """The provider's id, which is its name."""
        return self._provider

    @property
    def model(self) -> str:
        """The model's name; that of the program where it chooses itself."""
        return self._model or self._dialect.program

    async def complete(self, request: ChatRequest) -> ChatReply:
        """The answer in one piece. Raises ``ModelFailed``."""
        schema = request.schema.content if request.schema else None
        wanted = is_object(schema) and is_strict(schema)
        files = {SCHEMA_FILE: json.dumps(schema)} if wanted else {}
        try:
            return await self._asked(prompt_of(request), files)
        except Failed as failed:
            failure = self._told(failed)
        except ModelUnavailable as gone:  # it was there when this was made
            failure = ModelFailed(gone.message, gone.hint, fault=ModelFault.NOT_FOUND, status=None)
        raise failure

    async def stream(self, request: ChatRequest) -> AsyncIterator[Delta | ChatReply]:
        """The answer as one piece and then as a whole: the programs tell it only at their end. Raises ``ModelFailed``."""
        reply = await self.complete(request)
        if reply.text:
            yield Delta(reply.text)
        yield reply

    async def close(self) -> None:
        """Nothing is kept between two calls."""

    async def _asked(self, prompt: str, files: Mapping[str, str]) -> ChatReply:
        """Ask, each time without an option more that this release does not know; never without a needed one."""
        environ = cli_child.child_environment(self._environ)
        async with self._permit():
            while True:
                options = [each for each in self._options(bool(files)) if each.name not in self._without]
                ended = await self._ended(options, prompt, files, environ)
                told = unknown_option(ended.err.decode("utf-8", "replace")) if ended.code else None
                unknown = next((each for each in options if each.name == told), None)
                if unknown is None:
                    return self._read(ended)
                if unknown.needed:
                    raise TooOld(unknown.name)
                _log.info("%s does not know %s; asking without it", self._dialect.program, unknown.name)
                self._without |= {unknown.name}

    def _options(self, schema: bool) -> tuple[Option, ...]:
        return self._dialect.options(self._model, schema)

    async def _ended(
        self, options: list[Option], prompt: str, files: Mapping[str, str], environ: Mapping[str, str]
    ) -> cli_child.Ended:
        command = [self._program(), *(word for each in options for word in (each.name, *each.values))]
        try:
            return await cli_child.run(command, prompt, files, environ, self._patience)
        except TimeoutError:
            raise Failed(ModelFault.TIMEOUT) from None
        except cli_child.TooMuch:
            raise Failed(ModelFault.BAD_ANSWER) from None
        except OSError:
            raise Failed(ModelFault.SERVER) from None

    def _read(self, ended: cli_child.Ended) -> ChatReply:
        out = ended.out.decode("utf-8", "replace")
        try:
            reply = self._dialect.reply(out, self._model)
        except Failed as failed:
            # A program that fails before it can say so in JSON says it to its person.
            if failed.fault is ModelFault.BAD_ANSWER and ended.code:
                raise Failed(fault_of_words(f"{out}\n{ended.err.decode('utf-8', 'replace')}")) from None
            raise
        if ended.code:
            raise Failed(ModelFault.SERVER)
        return ChatReply(unguarded(reply.text), reply.model, reply.stop, reply.usage)

    def _program(self) -> str:
        name = self._dialect.program
        found = shutil.which(name, path=self._environ.get("PATH", ""))
        if found is None:
            raise ModelUnavailable(f"{name} is not on PATH", f"install {name}, or choose another provider")
        return os.path.abspath(found)  # it runs in another folder

    def _told(self, failed: Failed) -> ModelFailed:
        name = self._dialect.program
        row = _EXPLAINED.get(failed.fault, TABLE[failed.fault])
        hint = _LOG_IN[name] if failed.fault is ModelFault.AUTH else row.hint
        if isinstance(failed, TooOld):
            hint = f"it does not know {failed.option}; update {name}"
        return ModelFailed(f"{name}: {row.sentence}", hint, fault=failed.fault, status=failed.status)
