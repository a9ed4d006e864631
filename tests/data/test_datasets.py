"""Does the data home find, unpack, check and load what it should."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import tarfile
from pathlib import Path

import numpy as np
import pytest

from lessregret.cli import run
from lessregret.data.datasets import DATASETS, DataFile, DataHome, loaders
from lessregret.errors import InputError
from tests.support.data_home import home_with

CONTENT = b"1 1:0.5 7:0.25\n-1 3:1\n"
FILE = DataFile("set/train", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


@pytest.mark.parametrize(
    ("ending", "pack"),
    [("", bytes), (".xz", lzma.compress), (".bz2", bz2.compress), (".gz", gzip.compress)],
)
def test_a_file_is_found_however_it_is_packed(tmp_path: Path, ending: str, pack) -> None:
    place = tmp_path / f"set/train{ending}"
    place.parent.mkdir()
    place.write_bytes(pack(CONTENT))
    home = DataHome(tmp_path)
    assert home.find(FILE) == place
    assert home.read(FILE) == CONTENT


def test_other_content_is_refused(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set/train").write_bytes(CONTENT + b"\n")
    with pytest.raises(InputError, match="expected content with SHA-256"):
        DataHome(tmp_path).read(FILE)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set/train.xz").write_bytes(lzma.compress(CONTENT)[:-8])
    with pytest.raises(InputError, match="expected a whole xz file"):
        DataHome(tmp_path).read(FILE)


def test_a_missing_file_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected set/train \(or .xz, .bz2, .gz\)"):
        DataHome(tmp_path).read(FILE)


def test_the_variable_names_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LESSREGRET_DATA", str(tmp_path))
    assert DataHome.default().folder == tmp_path
    monkeypatch.delenv("LESSREGRET_DATA")
    assert "lessregret" in DataHome.default().folder.name


def test_sentiment_rows_have_unit_length() -> None:
    positive = b"a:3 b_c:4 #label#:positive\n"
    negative = b"a:1 x:y:2 #label#:negative\n"
    X, y = loaders.sentiment([positive, negative])
    assert y.tolist() == [1, -1]
    assert X.shape == (2, 3)
    np.testing.assert_allclose(X.toarray()[0], [0.6, 0.8, 0])
    np.testing.assert_allclose((X.multiply(X)).sum(axis=1), 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"a:1 #label#:neutral\n", "reviews:1: expected '#label#:positive' or"),
        (b"a #label#:positive\n", "reviews:1: expected feature:count, found 'a'"),
        (b"a:-1 #label#:positive\n", "reviews:1: expected feature:count, found 'a:-1'"),
    ],
)
def test_sentiment_errors_name_the_line(line: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        loaders.sentiment([line])
    assert str(caught.value).startswith(message)


def test_libsvm_text_as_news20_and_rcv1_have_it() -> None:
    """The same format as the two files that are not to be had here, in small."""
    X, y = loaders.svmlight([b"+1 1:0.5 1355191:0.25\n-1 2:1 1355191:3\n"])
    assert y.tolist() == [1, -1]
    assert X.toarray().tolist() == [[0.5, 0, 0.25], [0, 1, 3]]


def test_several_files_are_one_set() -> None:
    X, y = loaders.vowpal_wabbit([b"1 |f 9:0.5 14:0.25\n", b"-1 |f 14:2\n-1 |f 3:1\n"])
    assert y.tolist() == [1, -1, -1]
    assert X.shape == (3, 3)
    assert sorted(X.data.tolist()) == [0.25, 0.5, 1, 2]


def test_a_table_has_a_feature_for_each_value_of_a_field() -> None:
    content = b"id,click,site,app\n7,0,a,b\n8,1,b,b\n"
    X, y = loaders.one_hot_csv([content, b"id,click,site,app\n9,1,a,c\n"])
    # site=a, app=b, site=b, app=c: a value counts for its own field only, and ids do not count.
    assert X.toarray().tolist() == [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]]
    assert y.tolist() == [-1, 1, 1]


def test_newsgroups_are_comp_against_the_rest() -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, text in (
            ("split/comp.graphics/1", b"Pixel pixel GPU"),
            ("split/sci.med/2", b"a"),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    X, y = loaders.newsgroups([archive.getvalue()])
    assert y.tolist() == [1, -1]
    np.testing.assert_allclose(sorted(X.toarray()[0][X.toarray()[0] > 0]), [1 / 5**0.5, 2 / 5**0.5])


def test_the_command_lists_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["data", "--data", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in document["rows"]] == list(DATASETS)
    assert not any(row["there"] for row in document["rows"])
    assert run(["data", "--data", str(tmp_path)]) == 0
    page = capsys.readouterr().out
    assert "books          missing" in page
    assert "wanted: processed_acl/books/positive.review" in page


@pytest.mark.parametrize(
    ("name", "shape", "positives"),
    [
        ("books", (2000, 195_887), 1000),
        ("dvd", (2000, 188_778), 1000),
        ("electronics", (2000, 111_407), 1000),
        ("kitchen", (2000, 93_474), 1000),
        ("rcv1-piece", (1500, 11_670), 704),
        ("20news-comp", (18_846, 1 << 20), 4891),
    ],
)
def test_real_data_have_their_known_shapes(
    name: str, shape: tuple[int, int], positives: int
) -> None:
    X, y = DATASETS[name].load(home_with(name))
    assert X.shape == shape
    assert int((y > 0).sum()) == positives
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "shape", "positives", "features"),
    [
        ("avazu-piece", (9999, 11_198), 1706, 22 * 9999),
        ("ipinyou-piece", (47_923, 20_289), 305, 16 * 47_923),
        ("a9a", (32_561, 123), 7841, 451_592),
    ],
)
def test_real_tables_have_features_of_value_1(
    name: str, shape: tuple[int, int], positives: int, features: int
) -> None:
    X, y = DATASETS[name].load(home_with(name))
    assert X.shape == shape
    assert int((y > 0).sum()) == positives
    assert X.nnz == features
    assert set(X.data) == {1.0}
