"""provider offers: what on this machine could answer, with the command that accepts each; looks only when asked."""

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from engine.config import Settings
from spark_tui.cli.invocation import Invocation
from spark_tui.cli.parser import Verb
from spark_tui.text.i18n import _

if TYPE_CHECKING:
    from engine.providers.local_servers import Offer


@click.command(cls=Verb)
@click.pass_obj
def offers(invocation: Invocation) -> None:
    """Ask the usual ports of this machine (Ollama, LM Studio, llama-server) and look for agent programs on PATH."""
    import asyncio

    from engine.providers.local_servers import offers as found_offers
    from spark_tui.cli.provider_rows import speak

    found = asyncio.run(found_offers())
    if invocation.as_json:
        told = [asdict(each) | {"models": list(each.models), "accept": _accept(each)} for each in found]
        invocation.output.document({"offers": told})
        return
    speak(Settings.load(invocation.home.config))
    if not found:
        invocation.output.line(_("nothing found; an endpoint with a key is added by: spark-tui provider add --help"))
    for each in found:
        invocation.output.line(each.how, "strong")
        invocation.output.line(f"    {_accept(each)}", "dim")


def _accept(offer: "Offer") -> str:
    """The command that adds it."""
    words = ["spark-tui", "provider", "add", offer.name, "--kind", offer.kind]
    words += ["--base-url", offer.base_url] if offer.base_url else []
    words += ["--model", offer.models[0]] if offer.models else []
    return shlex.join(words)
