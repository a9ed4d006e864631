"""The data sets that have a name here: what they are, their files, where a user gets them."""

from __future__ import annotations

from dataclasses import dataclass

from lessregret.data.datasets import loaders
from lessregret.data.datasets.home import DataFile, DataHome
from lessregret.data.datasets.loaders import Labelled, Loader


@dataclass(frozen=True)
class Dataset:
    """A named data set."""

    name: str
    about: str
    files: tuple[DataFile, ...]
    loader: Loader
    source: str
    """where a user gets it"""

    def is_there(self, home: DataHome) -> bool:
        """Whether all its files lie in the data home."""
        return all(home.find(file) is not None for file in self.files)

    def load(self, home: DataHome) -> Labelled:
        """Read, check and parse it."""
        return self.loader([home.read(file) for file in self.files])


SENTIMENT_SOURCE = (
    "the Multi-Domain Sentiment Dataset of Blitzer, Dredze and Pereira, version 1.0: "
    "processed_acl.tar.gz, unpacked in the data home"
)
LIBSVM_SOURCE = "LIBSVM's page of binary classification data sets"


def sentiment(domain: str, *files: DataFile) -> Dataset:
    """One domain of the paper's sentiment data."""
    about = f"Amazon reviews of {domain}, positive or negative; the paper's Table 1"
    return Dataset(domain, about, files, loaders.sentiment, SENTIMENT_SOURCE)


DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        sentiment(
            "books",
            DataFile(
                "processed_acl/books/positive.review",
                2_859_546,
                "d27a35a59e99b2c2d56731cad8d63870f8a3b9063a70bf8c18862e0a107cdd02",
            ),
            DataFile(
                "processed_acl/books/negative.review",
                2_949_909,
                "42e4d7e63f429e396de0db87b814f8c6a4b4948d34c94524725b0fe2944a0ff4",
            ),
        ),
        sentiment(
            "dvd",
            DataFile(
                "processed_acl/dvd/positive.review",
                2_921_403,
                "7e3a2655f9afd141bba569d0df6a4444f6bfa3c28daf243f21125c757940b563",
            ),
            DataFile(
                "processed_acl/dvd/negative.review",
                2_629_644,
                "9f0c977cf863f361f1f9961dc9e8c2b88630902da3eb5fd880146445144c355d",
            ),
        ),
        sentiment(
            "electronics",
            DataFile(
                "processed_acl/electronics/positive.review",
                1_758_673,
                "38d0ee5fd4147cfaff427b7f8c1ea9aacbb1fd383d51676288b7af5947fe039f",
            ),
            DataFile(
                "processed_acl/electronics/negative.review",
                1_793_684,
                "497d95c1ce079d2db672f9d2efa9cc02ba4ebd2a525f7b2495233305def11616",
            ),
        ),
        sentiment(
            "kitchen",
            DataFile(
                "processed_acl/kitchen/positive.review",
                1_490_635,
                "30fd84894433ee9dd7f7aa3da6f858811104e364528719be2d77372295c7d3b3",
            ),
            DataFile(
                "processed_acl/kitchen/negative.review",
                1_503_573,
                "674510d22f8f0b27790d323ef8633408777e92c122e801ee4ba02bb001d1d798",
            ),
        ),
        Dataset(
            "20news-comp",
            "posts to 20 newsgroups: comp.* against the rest, hashed words of unit length",
            (
                DataFile(
                    "20news-bydate/20news-bydate.tar",
                    50_288_640,
                    "36da725dce0763682465950651e42e2d94b988beb3fd1a8953185b0246d445c2",
                ),
            ),
            loaders.newsgroups,
            "20news-bydate.tar.gz of the 20 Newsgroups home page, unpacked, packed as one tar, "
            "names sorted",
        ),
        Dataset(
            "rcv1-piece",
            "1,500 genuine RCV1 vectors, of unit length",
            (
                DataFile(
                    "rcv1_vw_small/rcv1_small.dat",
                    1_441_266,
                    "348d59a15f8161852b817fedd45a0a9efa5e2602ea86d9e920ba7079f633e084",
                ),
                DataFile(
                    "rcv1_vw_small/rcv1_small_test.data",
                    730_966,
                    "c0f5f4a00497c5cec53b47c0ebb8428cc7c364d436ac10f64b5be33d90bfe293",
                ),
            ),
            loaders.vowpal_wabbit,
            "the test data of the Vowpal Wabbit repository",
        ),
        Dataset(
            "avazu-piece",
            "9,999 ad impressions of one hour, 22 fields, 17 % clicked",
            (
                DataFile(
                    "avazu_small/small3.train.csv",
                    1_559_115,
                    "de130fb5241bbb125c7db719ad9d5ec68e71a28358bf14a519c0c90d04160964",
                ),
            ),
            loaders.one_hot_csv,
            "the first 9,999 lines of train.csv of Kaggle's Avazu contest",
        ),
        Dataset(
            "ipinyou-piece",
            "47,923 ad impressions, 16 fields, 0.6 % clicked: 305 clicks in all",
            (
                DataFile(
                    "ipinyou_demo/train.fm.txt",
                    3_474_880,
                    "9e7de462cfe384f3c694b8456d2bcb96013be4c1dd1fc3008bb8cfb97dc3481b",
                ),
                DataFile(
                    "ipinyou_demo/test.fm.txt",
                    2_752_736,
                    "081cc6b7d8c891592bf792d6f6485a09d9b65bbe21262cc36f6fe58394f7f20a",
                ),
            ),
            loaders.svmlight,
            "the demo data of the deep-ctr repository, made from iPinYou's contest",
        ),
        Dataset(
            "a9a",
            "census: 32,561 people, 123 yes-or-no features, income above 50,000 or not",
            (
                DataFile(
                    "a9a/a9a",
                    2_327_314,
                    "7ba53cccb27e2e525f0fb173e1f446d49856e3fb007eb43be4ec6d0f5b3335ca",
                ),
            ),
            loaders.svmlight,
            LIBSVM_SOURCE,
        ),
        Dataset(
            "news20.binary",
            "newsgroups, 19,996 examples; the paper's Table 1 (news)",
            (DataFile("libsvm/news20.binary"),),
            loaders.svmlight,
            LIBSVM_SOURCE,
        ),
        Dataset(
            "rcv1.binary",
            "Reuters news, 677,399 examples: LIBSVM's test file (erratum E17); Table 1 (rcv1)",
            (DataFile("libsvm/rcv1_test.binary"),),
            loaders.svmlight,
            LIBSVM_SOURCE,
        ),
    )
}
