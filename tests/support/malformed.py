"""Inputs that are not what they should be, each with the one sentence a user gets for it."""

from __future__ import annotations

import gzip
from typing import NamedTuple

GOOD_SVMLIGHT = b"1 1:0.5 7:2\n0 2:1\n1 1:1 9:-0.25\n"
GOOD_VW = b"1 |a b:0.5 c\n-1 2 't |a:2 d |e f\n1 | g\n"
GOOD_GZIP = gzip.compress(GOOD_SVMLIGHT * 400, mtime=0)
PACKED = len(GOOD_GZIP)
LONG = 20_000_000

NUMBER_NOT_WORD = "a number after ':' ('=' joins a word to its name)"
TAB = "a space (Vowpal Wabbit drops what stands before a tab)"
TOUCHING = "a label (a word that touches '|' is a tag)"
DIGITS_39 = "1" + 38 * "0"


class Bad(NamedTuple):
    """A file, and what is said of it after its name."""

    name: str
    content: bytes
    told: str
    options: tuple[str, ...] = ()


def second_line(name: str, line: str, told: str, *options: str) -> Bad:
    """A bad line after a good one; ``told`` begins with its column."""
    good = "1 |a b" if "|" in line else "1 1:1"
    return Bad(name, f"{good}\n{line}\n".encode(), f":2:{told}", options)


VALUES = [
    second_line("nan", "1 5:nan", "5: expected a finite number, found 'nan'"),
    second_line("inf", "1 5:inf", "5: expected a finite number, found 'inf'"),
    second_line("minus inf", "1 5:-inf", "5: expected a finite number, found '-inf'"),
    second_line("infinity", "1 5:+Infinity", "5: expected a finite number, found '+Infinity'"),
    second_line("1e400", "1 5:1e400", "5: expected a number within ±3.4e38, found '1e400'"),
    second_line("1e39", "1 5:-1e39", "5: expected a number within ±3.4e38, found '-1e39'"),
    second_line(
        "39 digits", f"1 5:{10}{DIGITS_39}",
        "5: expected a number within ±3.4e38, found '10100000000000000000...'",
    ),
    second_line("hexadecimal", "1 5:0x1F", "5: expected a number after ':', found '0x1F'"),
    second_line("comma", "1 5:1,5", "5: expected a number after ':', found '1,5'"),
    second_line("underscore", "1 5:1_0", "5: expected a number after ':', found '1_0'"),
    second_line("word", "1 5:abc", "5: expected a number after ':', found 'abc'"),
    second_line("two colons", "1 5:1:2", "5: expected a number after ':', found '1:2'"),
    second_line("no value", "1 5:", "5: expected a number after ':', found end of line"),
    second_line("value apart", "1 5: 2", "5: expected a number after ':', found ' '"),
    second_line("Arabic digit", "1 5:٣", "5: expected a number after ':', found '٣'"),
]  # fmt: skip

INDICES = [
    second_line("no colon", "1 1:1 5", "8: expected ':' after the index, found end of line"),
    second_line("no colon, then more", "1 5 6:1", "4: expected ':' after the index, found ' '"),
    second_line("no index", "1 :2", "3: expected an index, 0 or more, found ':2'"),
    second_line("negative index", "1 -3:2", "3: expected an index, 0 or more, found '-3:2'"),
    second_line("named index", "1 1:1 x:2", "7: expected an index, 0 or more, found 'x:2'"),
    second_line("fraction as index", "1 1.5:2", "4: expected ':' after the index, found '.5:2'"),
    second_line(
        "index 2^64", "1 18446744073709551616:1",
        "3: expected an index below 2^64, found '18446744073709551616...'",
    ),
    second_line(
        "index of 30 digits", f"1 {30 * '9'}:1",
        "3: expected an index below 2^64, found '99999999999999999999...'",
    ),
    second_line(
        "index twice", "1 3:1 4:1 3:5",
        "11: expected each index only once in a line, found '3:5'",
    ),
    second_line("bad query", "1 qid:x 1:1", "7: expected a whole number after 'qid:', found 'x'"),
    second_line(
        "query at the end", "1 1:1 qid:2", "7: expected an index, 0 or more, found 'qid:2'",
    ),
]  # fmt: skip

LABELS = [
    second_line("no label", "1:1 2:1", "1: expected a label 1, 0 or -1, found '1:1'"),
    second_line("label 2", "2 1:1", "1: expected a label 1, 0 or -1, found '2'"),
    second_line("label yes", "yes 1:1", "1: expected a label 1, 0 or -1, found 'yes'"),
    second_line("label nan", "nan 1:1", "1: expected a label 1, 0 or -1, found 'nan'"),
    second_line("two labels", "1,0 1:1", "1: expected a label 1, 0 or -1, found '1,0'"),
    Bad(
        "three classes", b"0 1:1\n1 1:1\n-1 1:1\n",
        ":3:1: expected a label 1 or 0, as in the lines before, found '-1'",
    ),
    Bad(
        "three classes the other way", b"-1 1:1\n0 1:1\n",
        ":2:1: expected a label 1 or -1, as in the lines before, found '0'",
    ),
    second_line(
        "regression with nan", "nan 1:1", "1: expected a finite number, found 'nan'",
        "--loss", "squared",
    ),
    second_line(
        "regression with a word", "x 1:1", "1: expected a number as label, found 'x'",
        "--loss", "squared",
    ),
    second_line(
        "regression with 1e39", "1e39 1:1", "1: expected a number within ±3.4e38, found '1e39'",
        "--loss", "squared",
    ),
]  # fmt: skip

VOWPAL_WABBIT = [
    Bad("no bar", b"1 |a b\n1 2 3\n", ":2:6: expected '|' before the features, found end of line"),
    second_line("no label before the bar", "|a b", "1: expected a label, found '|'"),
    second_line("label that touches", "1|a b", f"1: expected {TOUCHING}, found '1|'"),
    second_line("tag without label", "'t |a b", "1: expected a label, found ''t'"),
    second_line("bad importance", "1 x |a b", "3: expected an importance, 0 or more, found 'x'"),
    second_line(
        "negative importance", "1 -2 |a b", "3: expected an importance, 0 or more, found '-2'",
    ),
    second_line("importance nan", "1 nan |a b", "3: expected a finite number, found 'nan'"),
    second_line(
        "importance 1e39", "1 1e39 |a b", "3: expected a number within ±3.4e38, found '1e39'",
    ),
    second_line(
        "initial prediction", "1 2 x |a b",
        "5: expected a number as initial prediction, found 'x'",
    ),
    second_line("fourth number", "1 2 0.5 3 |a b", "9: expected a tag or '|', found '3'"),
    second_line(
        "tag in the middle", "1 't 2 |a b", "3: expected an importance, 0 or more, found ''t'",
    ),
    second_line("tab before the bar", "1\t|a b", f"2: expected {TAB}, found '\\x09'"),
    second_line("text as value", "1 |a b:big", f"8: expected {NUMBER_NOT_WORD}, found 'big'"),
    second_line("value nan", "1 |a b:nan", "8: expected a finite number, found 'nan'"),
    second_line("value missing", "1 |a b:|c", "8: expected a number after ':', found '|'"),
    second_line("bad weight", "1 |a:x b", "6: expected a number after ':', found 'x'"),
    second_line("weight missing", "1 |a: b", "6: expected a number after ':', found ' '"),
    second_line("weight inf", "1 |a:inf b", "6: expected a finite number, found 'inf'"),
    second_line(
        "weight without a namespace", "1 |:2 b",
        "4: expected a namespace or a blank after '|', found ':'",
    ),
    second_line(
        "product too large", "1 |a:1e30 b:1e30",
        "13: expected a value within ±3.4e38 after the namespace's weight, found '1e30'",
    ),
    second_line("return inside", "1 |a b\rc", r"7: expected a blank, ':' or '|', found '\x0d'"),
    Bad(
        "svmlight after Vowpal Wabbit", GOOD_VW + b"1 1:1\n",
        ":4:6: expected '|' before the features, found end of line",
    ),
    Bad(
        "Vowpal Wabbit after svmlight", GOOD_SVMLIGHT + b"1 |a b\n",
        ":4:3: expected an index, 0 or more, found '|a'",
    ),
]  # fmt: skip

BYTES = [
    Bad("NUL", b"1 1:1\n1 2:\x001\n", r":2:5: expected text without NUL bytes, found '\x00'"),
    Bad("NUL in a comment", b"1 1:1 # \x00\n",
        r":1:9: expected text without NUL bytes, found '\x00'"),
    Bad(
        "UTF-16", "1 1:1\n".encode("utf-16-le"),
        r":1:2: expected text without NUL bytes, found '\x00'",
    ),
    Bad("not UTF-8", b"1 \xff\xfe:1\n", r":1:3: expected an index, 0 or more, found '\xff\xfe:1'"),
    Bad("mark in the middle", b"1 1:1\n\xef\xbb\xbf1 2:1\n",
        r":2:1: expected a label 1, 0 or -1, found '\xef\xbb\xbf1'"),
    Bad("returns only", b"1 1:1\r0 2:1\r", r":1:5: expected a number after ':', found '1\x0d0'"),
    Bad("picture", b"\x89PNG\r\n\x1a\n", r":1:1: expected a label 1, 0 or -1, found '\x89PNG'"),
    Bad("20 MB line", b"1 1:1\n1 2:" + LONG * b"1",
        ":2: expected a line of at most 16 MiB, found a longer one"),
    Bad("20 MB line, then more", b"1 " + LONG * b" " + b"\n1 1:1\n",
        ":1: expected a line of at most 16 MiB, found a longer one"),
]  # fmt: skip

FILES = [
    Bad("empty", b"", ": expected at least one example, found none"),
    Bad("blank lines", b"\n \t\r\n\n", ": expected at least one example, found none"),
    Bad("comments", b"# nothing\n  # here\n", ": expected at least one example, found none"),
    Bad("only a mark", b"\xef\xbb\xbf", ": expected at least one example, found none"),
    Bad("gzip of nothing", gzip.compress(b"", mtime=0),
        ": expected at least one example, found none"),
    Bad("cut gzip", GOOD_GZIP[:-9],
        f": expected a whole gzip stream, found its end after {PACKED - 9} bytes"),
    Bad("gzip's first bytes", GOOD_GZIP[:2],
        ": expected a whole gzip stream, found its end after 2 bytes"),
    Bad("damaged gzip", GOOD_GZIP[:10] + 20 * b"\xff",
        ": expected a sound gzip stream, found damage at most 30 bytes in (corrupt deflate "
        "stream)"),
    Bad("gzip with a wrong checksum", GOOD_GZIP[:-8] + b"\0\0\0\0" + GOOD_GZIP[-4:],
        f": expected a sound gzip stream, found damage at most {PACKED} bytes in (corrupt gzip "
        "stream does not have a matching checksum)"),
    Bad("text after gzip", GOOD_GZIP + GOOD_SVMLIGHT,
        f": expected a sound gzip stream, found damage at most {PACKED + len(GOOD_SVMLIGHT)} bytes "
        "in (invalid gzip header)"),
    Bad("zstd's first bytes", b"\x28\xb5\x2f\xfd",
        ": expected a whole zstd stream, found its end after 4 bytes"),
    Bad(
        "cut xz", b"\xfd7zXZ\x00",
        ": expected a file that can be read, found trouble (Compressed file ended before the "
        "end-of-stream marker was reached) after 0 bytes",
    ),
    Bad("zip", b"PK\x03\x04\x14\x00", ": expected text, gzip or zstd, found a zip archive"),
    Bad("all lines bad", b"2 1:1\n3 1:1\n",
        ": expected at least one example, found none, but 2 bad lines; the first: "
        "{file}:1:1: expected a label 1, 0 or -1, found '2'", ("--bad-lines", "skip")),
]  # fmt: skip

BAD = [*VALUES, *INDICES, *LABELS, *VOWPAL_WABBIT, *BYTES, *FILES]

CURE = "Scale the features (scale 'standard' does), or use a smaller rate or radius"
DIVERGED = [
    Bad("value of 1e30", b"1 1:1\n0 7:1e30\n",
        "round 2: the gradient has length 5.03e29, too large to square in float32; feature in "
        "slot 7 contributed most. " + CURE),
    Bad("sum of repeats too large", b"1 |a b:3e38 b:3e38\n",
        "round 1: the gradient has length 1.70e38, too large to square in float32; "
        "feature in slot 656 contributed most. " + CURE),
    Bad("margin too large", b"1 1:1\n0 1:3e38\n",
        "round 2: the margin is 3.00e40, too large for a float32; feature in slot 1 contributed "
        "most. " + CURE,
        ("--loss", "hinge", "--rate", "100")),
]  # fmt: skip

ACCEPTED = {
    "byte-order mark": b"\xef\xbb\xbf" + GOOD_SVMLIGHT,
    "carriage returns": GOOD_SVMLIGHT.replace(b"\n", b"\r\n"),
    "no newline at the end": GOOD_SVMLIGHT[:-1],
    "blank lines between": GOOD_SVMLIGHT.replace(b"\n", b"\n \n\n"),
    "comments between": GOOD_SVMLIGHT.replace(b"\n", b" # note | 1:nan\n# a | b\n"),
    "gzip": gzip.compress(GOOD_SVMLIGHT),
    "gzip in two members": gzip.compress(GOOD_SVMLIGHT[:9]) + gzip.compress(GOOD_SVMLIGHT[9:]),
    "other spellings": b"+1 001:5e-1 7:2.\n-0 2:+1 3:0\n1.0 1:1 9:-.25",
    "queries and tabs": GOOD_SVMLIGHT.replace(b" ", b"\tqid:3  ", 1),
}
"""Spellings of :data:`GOOD_SVMLIGHT` that are read without complaint, as the same examples."""
