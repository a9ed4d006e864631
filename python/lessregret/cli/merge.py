"""``lessregret merge``: models that went on from one start become one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from lessregret.cli.live import CountingBar, is_live
from lessregret.cli.options import json_option
from lessregret.cli.outputs import check_files
from lessregret.report.wording import counted

if TYPE_CHECKING:
    from lessregret.learners.learner import Learner


@click.command("merge")
@click.argument("start", type=click.Path(dir_okay=False))
@click.argument("shards", type=click.Path(dir_okay=False), nargs=-1, required=True)
@click.option(
    "--model",
    required=True,
    type=click.Path(dir_okay=False),
    help="The file to write the merged model to.",
)
@click.option(
    "--how",
    type=click.Choice(["matched", "weighted", "average"]),
    default="matched",
    show_default=True,
    help="How weights are merged: 'matched' puts each where one learner would be that saw what all "
    "shards saw; 'weighted' and 'average' are means.",
)
@json_option
def command(start: str, shards: tuple[str, ...], model: str, how: str, as_json: bool) -> None:
    """Merge the models SHARDS, which were all trained on from the model START, into one model.

    Give every shard other data: `lessregret train PART --resume START --model SHARD`. The order of
    the shards does not matter. The merged model can be trained on and predicts like any other. Its
    ledger counts the examples of all shards and reports no bound, because no proof covers a merge.
    """
    check_files([], [start, *shards], model=model)
    merged = _merged(start, shards, how)
    merged.save(model)
    ledger = merged.ledger()
    if as_json:
        document = {"model": model, "start": start, "shards": list(shards), "how": how}
        click.echo(json.dumps({**document, "ledger": ledger.as_dict()}, indent=2))
        return
    loss = "none" if ledger.mean_loss is None else f"{ledger.mean_loss:.6g}"
    click.echo(
        f"merged {len(shards)} shards: {ledger.rounds:,} examples, mean loss {loss}; "
        f"model written to {model}",
        err=True,
    )


def _merged(start: str, shards: Sequence[str], how: str) -> Learner:
    """The merged learner; on a terminal a bar counts the models as they are read and merged."""
    from lessregret.learners.learner import Learner
    from lessregret.learners.merge import merge

    bar = CountingBar(len(shards) + 2) if is_live() else None
    learners = []
    with bar or nullcontext():
        for place, name in enumerate([start, *shards]):
            if bar is not None:
                which = f"shard {place} of {len(shards)}" if place else "the start"
                bar.show(place, f"reading {which}")
            learners.append(Learner.load(name))
        if bar is not None:
            bar.show(len(learners), f"merging {counted(len(shards), 'shard')}")
        return merge(learners[0], learners[1:], how=how)  # type: ignore[arg-type]
