"""``lessregret data``: which real data sets there are, and which are missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lessregret.cli.options import json_option

if TYPE_CHECKING:
    from lessregret.data.datasets import DataHome, Dataset


@click.command("data")
@click.option(
    "--data",
    "folder",
    type=click.Path(file_okay=False),
    help="The folder to look for the data sets in, instead of the data home.",
)
@click.option("--check", is_flag=True, help="Also read every file and check its SHA-256 checksum.")
@json_option
def command(folder: str | None, check: bool, as_json: bool) -> None:
    """List the real data sets that this package can load, and say where to get missing ones.

    The data sets are expected in the data home: the folder that the environment variable
    LESSREGRET_DATA names or, if it is not set, a folder for application data in the user's home.
    Nothing is downloaded.
    """
    from lessregret.data.datasets import DATASETS, DataHome

    home = DataHome(Path(folder)) if folder else DataHome.default()
    rows = [_row(dataset, home, check) for dataset in DATASETS.values()]
    if as_json:
        click.echo(json.dumps({"home": str(home.folder), "rows": rows}, indent=2))
    else:
        click.echo(_page(home, rows))


def _row(dataset: Dataset, home: DataHome, check: bool) -> dict[str, Any]:
    files = [
        {
            "path": file.path,
            "bytes": file.size,
            "sha256": file.sha256,
            "found": _found(home, file),
        }
        for file in dataset.files
    ]
    if check and dataset.is_there(home):
        for file in dataset.files:
            home.read(file)
    return {
        "name": dataset.name,
        "about": dataset.about,
        "there": dataset.is_there(home),
        "source": dataset.source,
        "files": files,
    }


def _found(home: DataHome, file: Any) -> str | None:
    place = home.find(file)
    return None if place is None else str(place)


def _page(home: DataHome, rows: list[dict[str, Any]]) -> str:
    lines = [f"data home: {home.folder}", ""]
    for row in rows:
        sizes = [file["bytes"] for file in row["files"]]
        size = f"{sum(sizes) / 1e6:.1f} MB" if None not in sizes else "size unknown here"
        lines.append(f"{row['name']:<14} {'there' if row['there'] else 'missing':<8} {size}")
        lines.append(f"    {row['about']}")
        if not row["there"]:
            missing = [file["path"] for file in row["files"] if file["found"] is None]
            lines.append(f"    wanted: {', '.join(missing)} (plain, .xz, .bz2 or .gz)")
            lines.append(f"    from:   {row['source']}")
    return "\n".join(lines)
