"""``cobandit llm``: check a language model's endpoint, try the demo endpoint, sum up calls and costs."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from cobandit.cli import options as shared
from cobandit.cli.declare import option
from cobandit.cli.formats import TextOrJson

app = typer.Typer(name="llm", help="Check and try endpoints of language models.", no_args_is_help=True)


@app.command(cls=shared.GroupedHelp)
@shared.with_option_groups
def check(
    model: Annotated[str | None, option("NAME", "The model, in place of COBANDIT_LLM_MODEL.")] = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Ask the configured endpoint for one move.

    One call to COBANDIT_LLM_URL, with the key of COBANDIT_LLM_KEY. Nothing is stored. Exits with 1 where no move
    arrives.
    """
    from cobandit.cli import output
    from cobandit.remote.chat import Conversation, Limits, Style
    from cobandit.remote.prompt import PromptView, arm_names
    from cobandit.remote.settings import ChatEndpoint
    from cobandit.remote.usage import token_cost

    endpoint = ChatEndpoint.from_environment(model or "")
    past = [((0, 0), 1.0), ((0, 1), 0.0), ((1, 0), 0.0)]
    view = PromptView.from_rounds(1, arm_names((2, 2)), 20, past)
    answer = Conversation(endpoint, view, Style(), limits=Limits(60.0, 0)).ask()
    last = answer.attempts[-1]
    result = {
        "endpoint": endpoint.host,
        "model": endpoint.model,
        "move": None if answer.arm is None else view.own_names[answer.arm],
        "outcome": answer.reason or "answer",
        "schema": "response_format" in last.request,
        "milliseconds": answer.milliseconds,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "cost": token_cost(answer.input_tokens, answer.output_tokens),
        "reply": last.reply[:1_000],
    }
    if form.as_json:
        output.print_json(result)
    else:
        screen = output.console()
        for name, value in result.items():
            output.paragraph(screen, f"{name.replace('_', ' ')}: {'none' if value is None else value}")
    if answer.arm is None:
        raise typer.Exit(1)


@app.command(cls=shared.GroupedHelp)
def demo(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 8001,
    fault: Annotated[str | None, option("NAME", "A fault to show, such as refusal; see the docs.")] = None,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Show the fault in every N-th reply.")] = 1,
    seconds: Annotated[float, typer.Option(min=0.0, help="Delay of the fault slow, in seconds.")] = 1.0,
) -> None:
    """Serve a demo endpoint on this machine until Ctrl-C.

    It plays naive UCB by the prompt alone, without key or network. It is no language model.
    """
    import threading

    from cobandit.cli.door import say
    from cobandit.remote.demo_server import DemoServer

    with DemoServer(port, fault=fault, every=every, seconds=seconds) as server:
        say(f"The demo endpoint is at {server.url}. In another terminal: export COBANDIT_LLM_URL={server.url}")
        say("export COBANDIT_LLM_MODEL=demo; then cobandit llm check")
        threading.Event().wait()


@app.command(cls=shared.GroupedHelp)
@shared.with_option_groups
def usage(form: TextOrJson = TextOrJson()) -> None:
    """Sum up stored calls, tokens and costs by model."""
    from cobandit.cli import output
    from cobandit.remote.replies import logged_usage, replies_folder
    from cobandit.remote.usage import token_cost

    folder = replies_folder()
    rows = [
        {"model": name, **counts, "cost": token_cost(counts["input_tokens"], counts["output_tokens"])}
        for name, counts in sorted(logged_usage(folder).items())
    ]
    if form.as_json:
        output.print_json({"folder": os.fspath(folder), "models": rows})
        return
    screen = output.console()
    output.paragraph(screen, f"Replies are stored in {folder}.")
    if not rows:
        output.paragraph(screen, "No calls yet.")
        return
    table = output.table(*(head.replace("_", " ") for head in rows[0]))
    for row in rows:
        table.add_row(
            *(f"{cell:,}" if isinstance(cell, int) else "-" if cell is None else str(cell) for cell in row.values())
        )
    screen.print(table)
