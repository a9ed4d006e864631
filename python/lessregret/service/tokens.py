"""Bearer tokens: who may predict, learn and administer.

A token is 256 random bits, so that a plain SHA-256 of it is enough: there is no password to guess,
and nothing that a slow hash would make harder. Only the hashes are kept, in ``DIR/tokens.json``.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path

from lessregret import _core
from lessregret.errors import SpecError

RIGHTS = ("predict", "learn", "admin")
"""What a token may be for; ``admin`` may do all."""
PREFIX = "lrg_"


class Tokens:
    """The hashes of the tokens, by what they are for.

    >>> tokens = Tokens({"predict": [Tokens.hashed("lrg_a")], "admin": [Tokens.hashed("lrg_b")]})
    >>> tokens.allows("lrg_a", "predict"), tokens.allows("lrg_a", "learn")
    (True, False)
    >>> tokens.allows("lrg_b", "learn")
    True
    """

    def __init__(self, hashes: dict[str, list[str]] | None = None) -> None:
        self.hashes = {right: list((hashes or {}).get(right, [])) for right in RIGHTS}

    @classmethod
    def load(cls, path: Path) -> Tokens:
        """The tokens of a file; none if it is not there."""
        try:
            hashes = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(hashes, dict) or not set(hashes) <= set(RIGHTS):
                raise ValueError
            return cls(hashes)
        except FileNotFoundError:
            return cls()
        except ValueError:
            raise SpecError(f"{path}: expected tokens; make new ones, or remove the file") from None

    @staticmethod
    def hashed(token: str) -> str:
        """What is kept of a token."""
        return hashlib.sha256(token.encode()).hexdigest()

    def __bool__(self) -> bool:
        return any(self.hashes.values())

    def new(self, right: str, path: Path) -> str:
        """A new token, whose hash is added to the file."""
        token = PREFIX + secrets.token_urlsafe(32)
        self.hashes[right].append(self.hashed(token))
        file = _core.AtomicFile(path)
        file.write(json.dumps(self.hashes, indent=2).encode() + b"\n")
        file.finish()
        os.chmod(path, 0o600)
        return token

    def allows(self, token: str, right: str) -> bool:
        """Whether a token may do this. Every hash is compared, each in constant time."""
        given = self.hashed(token)
        known = self.hashes[right] + (self.hashes["admin"] if right != "admin" else [])
        found = [hmac.compare_digest(given, hash) for hash in known]
        return any(found)
