"""What users say of columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessregret.data.column_choices import ColumnChoices
from lessregret.errors import InputError, SpecError


def test_a_file_says_what_options_do_not(tmp_path: Path) -> None:
    path = tmp_path / "columns.toml"
    path.write_text('label = "y"\nnumber = ["age", "hours"]\nmissing = [""]\n')
    said = ColumnChoices(number=("age",), tag="id").over(ColumnChoices.read(path))
    assert said == ColumnChoices(label="y", number=("age",), missing=("",), tag="id")


def test_nothing_said_is_no_choice() -> None:
    assert not ColumnChoices().are_made
    assert ColumnChoices(header=()).are_made


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("labels = 'y'", "expected some of label, weight, "),
        ("label = 3", "label must be a string, found 3"),
        ("number = 'age'", "number must be a list of strings, found 'age'"),
        ("number = [1]", "number must be a list of strings, found [1]"),
    ],
)
def test_a_wrong_choice_is_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "columns.toml"
    path.write_text(text)
    with pytest.raises(SpecError) as caught:
        ColumnChoices.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert told in str(caught.value)


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "columns.toml"
    path.write_text("label: y")
    with pytest.raises(InputError, match="expected a TOML file"):
        ColumnChoices.read(path)
    with pytest.raises(InputError, match="No such file"):
        ColumnChoices.read(tmp_path / "none.toml")
