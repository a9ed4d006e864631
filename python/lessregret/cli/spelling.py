"""What to say of options that are not there: those of Vowpal Wabbit have another name here.

click itself names the nearest option of a command for any other misspelling.
"""

from __future__ import annotations

import click

_NAMES = "use --names with 'train', then 'lessregret inspect MODEL --weights 20'"
_NOTHING = "leave it out; nothing is held out here"
VOWPAL_WABBIT = {
    "-b": "use --bits",
    "--bit_precision": "use --bits",
    "-d": "give the file without an option, as in 'lessregret train FILE'",
    "--data": "give the file without an option, as in 'lessregret train FILE'",
    "-f": "use --model",
    "--final_regressor": "use --model",
    "-i": "use --resume to continue training, or 'lessregret predict MODEL FILE' to predict",
    "--initial_regressor": "use --resume to continue training, or 'lessregret predict MODEL FILE' "
    "to predict",
    "-t": "use 'lessregret predict MODEL FILE'",
    "--testonly": "use 'lessregret predict MODEL FILE'",
    "-p": "use --predictions with 'train', and --output with 'predict'",
    "--raw_predictions": "use 'lessregret predict MODEL FILE --as margin'",
    "-r": "use 'lessregret predict MODEL FILE --as margin'",
    "--binary": "use 'lessregret predict MODEL FILE --as label'",
    "--link": "leave it out; 'predict' writes probabilities if the loss is logistic",
    "--loss_function": "use --loss",
    "-l": "use --rate, or leave it out: the default needs no rate",
    "--learning_rate": "use --rate, or leave it out: the default needs no rate",
    "--l1": "use --rule ftrl:l1=NUMBER",
    "--ftrl": "use --rule ftrl",
    "--ftrl_alpha": "use --rule ftrl:rate=NUMBER",
    "--ftrl_beta": "use --rule ftrl:offset=NUMBER",
    "--adaptive": "leave it out; the default rule, per-coordinate, is adaptive",
    "--sgd": "use --rule constant",
    "--coin": "use --rule coin",
    "--normalized": "use --scale full, or leave it out: the default scales values, too",
    "--invariant": "use --importance-aware",
    "--noconstant": "use --no-intercept",
    "-c": "leave it out; 'lessregret convert' writes a file that is read faster",
    "--cache": "leave it out; 'lessregret convert' writes a file that is read faster",
    "--cache_file": "leave it out; 'lessregret convert' writes a file that is read faster",
    "--holdout_off": _NOTHING,
    "--holdout_period": _NOTHING,
    "--invert_hash": _NAMES,
    "--readable_model": _NAMES,
    "--audit": _NAMES,
    "-a": _NAMES,
}
"""What to use here in place of an option of Vowpal Wabbit."""


class Command(click.Command):
    """A command that knows what the options of Vowpal Wabbit are called here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise _explained(error) from None


def _explained(error: click.NoSuchOption) -> click.UsageError:
    cure = VOWPAL_WABBIT.get(error.option_name)
    if cure is None:
        return error
    told = f"{error.option_name} is an option of Vowpal Wabbit; here {cure}"
    return click.UsageError(told, error.ctx)
