"""Tell two kinds of messages apart, one message at a time, and ask why.

    python examples/text.py

A message is a dict of its words. Each is predicted before it is learned, as a mail server would do
it. In the end the model explains one prediction, word by word.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from lessregret import OnlineClassifier

WORDS = {
    "spam": ("win", "free", "prize", "now", "click", "offer"),
    "mail": ("meeting", "report", "tomorrow", "thanks", "lunch", "draft"),
}
COMMON = ("the", "a", "you", "we", "is", "and", "for", "to")


def messages(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Made-up messages with their kinds; of six telling words one is of the other kind."""
    rng = random.Random(seed)
    for _ in range(count):
        kind, other = rng.choice([("spam", "mail"), ("mail", "spam")])
        pool = WORDS[kind] * 5 + WORDS[other] + COMMON * 8
        yield " ".join(rng.choices(pool, k=8)), kind


def words(message: str) -> dict[str, float]:
    """How often each word stands in a message."""
    return {word: float(message.split().count(word)) for word in message.split()}


def learned(count: int) -> tuple[OnlineClassifier, float]:
    """The model, and the share of messages that it took for the wrong kind before it learned."""
    model, wrong = OnlineClassifier(), 0
    for message, kind in messages(count):
        wrong += model.predict_one(words(message)) != kind
        model.learn_one(words(message), kind)
    return model, wrong / count


if __name__ == "__main__":
    model, wrong = learned(2000)
    print(f"{wrong:.1%} of the messages were taken for the wrong kind")
    message = "you win a free lunch tomorrow"
    spam = model.predict_proba_one(words(message))["spam"]
    print(f"{message!r} is spam with probability {spam:.2f}")
    for part in model.explain_one(words(message)).parts:
        print(f"{part.name:12} {part.part:+.3f}")
