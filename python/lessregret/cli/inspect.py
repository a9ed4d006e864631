"""``lessregret inspect``: what is inside a model file."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import click

from lessregret.cli.options import json_option
from lessregret.learners.losses import loss_named
from lessregret.report.wording import counted, number, weight_text


@click.command("inspect")
@click.argument("model", type=click.Path(dir_okay=False))
@click.option(
    "--weights",
    "count",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Also load the weights, verify the checksum, and show the N weights largest in absolute "
    "value.",
)
@json_option
def command(model: str, count: int, as_json: bool) -> None:
    """Show the settings of MODEL, the number of examples it learned from, and its losses.

    With --weights N the weights are loaded, the N weights with the largest absolute values are
    shown, with feature names if the model was trained with --names, and the checksum of the file is
    verified.

    Features that share a slot of the hash table have one weight. The part of the features that
    share one is counted if the model was trained with --names, and otherwise estimated from the
    number of slots in use. If it is above 5 %, the number of --bits is shown that would bring it
    below.
    """
    from lessregret.learners.model_file import read_header

    document = _document(model, read_header(model))
    if count:
        document["weights"] = _largest(model, count)
    click.echo(json.dumps(document, indent=2) if as_json else _page(document))


def _document(model: str, header: dict[str, Any]) -> dict[str, Any]:
    from lessregret.learners.model_file import expected_collisions

    table, touched = header["spec"]["table"], header["touched"]
    hashed = "bits" in table
    slots = 2 ** table["bits"] if hashed else table["columns"]
    intercept = int(header["spec"]["intercept"])
    # A slim file does not say how many slots were touched.
    known = hashed and not header["slim"]
    estimate = expected_collisions(slots, max(0, touched - intercept)) if known else 0.0
    return {
        "model": model,
        **{key: header[key] for key in ("format", "writer", "checksum", "spec", "tally")},
        "slim": header["slim"],
        "labels": header.get("labels"),
        "skipped": header["skipped"],
        "slots": slots + intercept,
        "touched": touched,
        "collisions": header["collisions"] if header["names"] else None,
        "expected_collisions": round(estimate, 1) if estimate != float("inf") else None,
        **_fill(model, header),
        **_experts(header),
    }


def _fill(model: str, header: dict[str, Any]) -> dict[str, Any]:
    """How full the hash table is, and which part of the features share a slot."""
    from lessregret.learners.fill import MOST_SHARED, estimated_fill, fill_of

    spec = header["spec"]
    # A slim file does not say how many slots were touched.
    if "bits" not in spec["table"] or header["slim"]:
        return {"fill": None}
    touched = max(0, header["touched"] - int(spec["intercept"]))
    names = (touched, header["collisions"]) if header["names"] else None
    fill = estimated_fill(2 ** spec["table"]["bits"], touched, names)
    if names is None and (fill.shared or 0.0) > MOST_SHARED:
        from lessregret.learners.learner import Learner

        # Names that are numbers are not hashed. Only the slots tell, so they are loaded here.
        fill = fill_of(Learner.load(model)) or fill
    return {
        "fill": {
            "slots": fill.slots,
            "touched": fill.touched,
            "features": fill.features and round(fill.features, 1),
            "shared": fill.shared and round(fill.shared, 6),
            "by_names": fill.by_names,
            "enough_bits": fill.enough_bits,
        }
    }


def _experts(header: dict[str, Any]) -> dict[str, Any]:
    """The lanes and the stack, where there are some."""
    from lessregret.learners.mixture import Mixture, lane_name, lane_rates
    from lessregret.learners.rules import RULES

    shared = header["shared"]
    if "mixture" not in shared:
        return {"lanes": [], "stack": None}
    mixture = Mixture.restored(loss_named(header["spec"]["loss"]), shared["mixture"])
    *shares, of_stack = mixture.shares()
    rates = lane_rates(RULES[header["spec"]["rule"]["name"]])
    lanes = [
        {"name": lane_name(rate), "rate": rate, "share": share, "loss": lane["loss"]}
        for rate, share, lane in zip(rates, shares, shared["lanes"], strict=True)
    ]
    return {"lanes": lanes, "stack": {"share": of_stack, "loss": shared["stack_tally"]["loss"]}}


def _largest(model: str, count: int) -> list[dict[str, Any]]:
    from lessregret.learners.largest_weights import largest_weights
    from lessregret.learners.learner import Learner

    return [weight._asdict() for weight in largest_weights(Learner.load(model), count)]


def _page(document: dict[str, Any]) -> str:
    spec, tally = document["spec"], document["tally"]
    parameters = {key: value for key, value in spec["rule"].items() if key != "name"}
    given = ", ".join(f"{key} {value}" for key, value in parameters.items() if value is not None)
    mean, penalty = (_mean(tally, sum_) for sum_ in ("loss", "penalty"))
    lines = [
        f"model        {document['model']}",
        f"format       {document['format']}, written by lessregret {document['writer']}, "
        f"checksum {document['checksum']}",
        f"loss         {spec['loss']}",
        f"rule         {spec['rule']['name']} ({given})",
        *([f"l2           {_l2(spec)}"] if spec["l2"] else []),
        f"scale        {spec.get('scale', 'none')}",
        *([f"labels       {_labels(document['labels'])}"] if document["labels"] else []),
        *(["updates      importance-aware"] if spec["importance_aware"] else []),
        *([f"fixed share  {spec['fixed_share']}"] if spec["fixed_share"] else []),
        *([f"namespaces   {_namespaces(spec)}"] if "namespaces" in spec else []),
        *_schema(spec.get("schema")),
        f"slots        {_slots(document)}",
        *([f"table        {_table(document['fill'])}"] if document["fill"] else []),
        f"intercept    {'yes' if spec['intercept'] else 'no'}",
        f"certified    {'yes' if spec['certify'] and not document['slim'] else 'no'}",
        f"rounds       {tally['rounds']:,} ({tally['features']:,} features)",
        f"mean loss    {number(mean, 6)}",
        *([f"mean penalty {number(penalty, 6)}"] if spec["l2"] else []),
    ]
    if loss_named(spec["loss"]).is_classification and tally["importance"]:
        lines.append(f"mistakes     {tally['mistakes'] / tally['importance']:.4%}")
    if document["skipped"]:
        lines.append(f"skipped      {counted(document['skipped'], 'bad line')}")
    lines += _expert_lines(document, tally)
    return "\n".join([*lines, *_weight_lines(document.get("weights", []))])


def _schema(schema: dict[str, Any] | None) -> list[str]:
    """What the columns of the table are, and what the classes are called."""
    if schema is None:
        return []
    kinds = Counter(column["kind"] for column in schema["columns"])
    label = next((one["name"] for one in schema["columns"] if one["kind"] == "label"), None)
    counted_kinds = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    lines = [f"columns      {counted_kinds}"] if kinds else []
    lines += [f"label        {label}"] if label else []
    if schema["classes"]:
        negative = schema["classes"]["negative"] or "every other label"
        lines.append(f"classes      {negative}, {schema['classes']['positive']} (positive)")
    return lines


def _namespaces(spec: dict[str, Any]) -> str:
    """The crosses and the namespaces that are read, as in the options."""
    parts = {name: spec["namespaces"][name] for name in ("crosses", "keep", "ignore")}
    parts["crosses"] = ["*".join(cross) for cross in parts["crosses"]]
    return "; ".join(f"{name} {', '.join(names)}" for name, names in parts.items() if names)


def _expert_lines(document: dict[str, Any], tally: dict[str, Any]) -> list[str]:
    if not document["lanes"]:
        return []
    lines = ["", f"{'expert':<12} {'share':>7}  mean loss"]
    for expert in [*document["lanes"], {"name": "stack", **document["stack"]}]:
        mean = number(_mean({**tally, **expert}, "loss"), 6)
        lines.append(f"{expert['name']:<12} {expert['share']:>7.2%}  {mean:>9}")
    return lines


def _mean(tally: dict[str, Any], name: str) -> float | None:
    return tally.get(name, 0.0) / tally["importance"] if tally["importance"] else None


def _l2(spec: dict[str, Any]) -> str:
    everywhere = spec["l2_scope"] == "all"
    return f"{spec['l2']}{' on all coordinates' if everywhere else ''}"


def _labels(statistics: dict[str, Any]) -> str:
    """The statistics by which labels are standardised."""
    if not statistics["range"]:
        return "standardised; none yet"
    variance = statistics["squares"] / statistics["importance"]
    low, high = (number(end, 4) for end in statistics["range"])
    mean, deviation = number(statistics["mean"], 4), number(variance**0.5, 4)
    return f"standardised; mean {mean}, standard deviation {deviation}, from {low} to {high}"


def _slots(document: dict[str, Any]) -> str:
    if document["slim"]:
        return (
            f"{document['touched']:,} weights of {document['slots']:,} slots; slim, only predicts"
        )
    return f"{document['touched']:,} of {document['slots']:,} touched{_collisions(document)}"


def _table(fill: dict[str, Any]) -> str:
    full = f"{_percent(fill['touched'] / fill['slots'])} full"
    if fill["shared"] is None:
        return f"{full}; names are numbers, so how many features share a slot is not known"
    if fill["shared"] == 0:
        return f"{full}; no feature shares a slot with another"
    kind = "at least " if fill["by_names"] else "about "
    told = f"{full}; {kind}{_percent(fill['shared'])} of the features share a slot with another"
    if fill["enough_bits"] is None:
        return told
    return f"{told}; train with --bits {fill['enough_bits']} for less than 5 %"


def _percent(part: float) -> str:
    """A part in percent, with one digit that is not 0.

    >>> _percent(0.25), _percent(0.00042), _percent(0.0)
    ('25.0%', '0.04%', '0.0%')
    """
    return f"{part:.1%}" if part == 0 or part >= 0.001 else f"{100 * part:.1g}%"


def _collisions(document: dict[str, Any]) -> str:
    if document["collisions"] is not None:
        return f", {document['collisions']:,} by more than one feature"
    return ""


def _weight_lines(weights: list[dict[str, Any]]) -> list[str]:
    if not weights:
        return []
    lines = ["", f"{'weight':>12}  {'slot':>10}  name"]
    for row in weights:
        name = row["name"] or "–"
        shared = "  (shared)" if row["collided"] else ""
        lines.append(f"{weight_text(row['weight']):>12}  {row['slot']:>10}  {name}{shared}")
    return lines
