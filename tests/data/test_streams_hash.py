"""Are features where Vowpal Wabbit puts them? Its own package is asked, line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lessregret import FeatureSpace, open_examples
from tests.support.vowpal_wabbit import sums, theirs

LINES = [
    "1 | a b c",
    "1 |a b c",
    "1 |user age:3 anna |ad shoes:0.5 red",
    "-1 2 'tag |user:2 age:3 anna |ad:0.25 shoes:0.5 red",
    "1 |user a |user b |user a",
    "1 | 1:2 17 262143:3 262144:4 18446744073709551615 007",
    "1 |7 7 12345678901234567890123 -3 1.5 1e3",
    "1 |a :3 :4 b :5 |a :1 |b :2",
    "1 | :1 :0 :2",
    "1 |é ü:2 日本 Ω",
    "1 |a b^c d'e f\"g h#i j=k l,m (n) [o] {p} \\q /r",
    "1 |a b:1e-3 c:-2.5 d:.5 e:+3 f:1E2 g:16777217 h:0.1",
    "1 |namespace_with_a_long_name feature_with_a_name_much_longer_than_sixteen_bytes",
    "1 |a x:0 y |b:0 z",
    "1 |a\tb\tc:2 \t d",
    "1 || a |",
    "1 |A a |a A |Aa aA",
    "1 |a 0 00 0x10 +1 1_000 ٣",
    "1 |%20 a+b&c=d?e |! $ @ ~ `",
    "1 |a " + " ".join(f"w{k}" for k in range(300)),
    "1 | " + " ".join(f"{k * 7919}:{k % 5}" for k in range(300)),
]
SEED = 7


def random_lines(count: int) -> list[str]:
    """Names of all printing characters that may stand in one, of all lengths up to 40."""
    rng = np.random.default_rng(SEED)
    allowed = [chr(c) for c in [*range(33, 127), *range(0xA1, 0x17F)] if chr(c) not in "|:"]

    def name(least: int) -> str:
        return "".join(rng.choice(allowed, size=rng.integers(least, 40)))

    def block() -> str:
        features = [f"{name(1)}:{rng.normal():.4g}" for _ in range(rng.integers(0, 6))]
        return " ".join([f"|{name(0)}", *features])

    return [" ".join(["1", *(block() for _ in range(rng.integers(1, 4)))]) for _ in range(count)]


def ours(bits: int, lines: list[str], folder: Path) -> list[dict[int, float]]:
    file = folder / "data.vw"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    stream = open_examples([file], FeatureSpace(bits=bits), format="vw")
    return [sums(zip(each.slots, each.values, strict=True)) for each in stream]


@pytest.mark.parametrize("bits", [18, 24])
@pytest.mark.parametrize("lines", [LINES, random_lines(200)], ids=["chosen", "random"])
def test_the_same_slots_and_values(bits: int, lines: list[str], tmp_path: Path) -> None:
    for line, found, (expected, *_) in zip(
        lines, ours(bits, lines, tmp_path), theirs(bits, lines), strict=True
    ):
        assert found.keys() == expected.keys(), line
        for slot, value in expected.items():
            # Vowpal Wabbit reads decimals with an arithmetic of its own, off by an ulp or two.
            assert found[slot] == pytest.approx(value, rel=1e-6), line
