"""The data home: where files lie, how they are packed, whether they are the right ones."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lessregret.errors import InputError

VARIABLE = "LESSREGRET_DATA"

UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    ".xz": lzma.decompress,
    ".bz2": bz2.decompress,
    ".gz": gzip.decompress,
}


@dataclass(frozen=True)
class DataFile:
    """A file of a data set, by its unpacked content."""

    path: str
    """below the data home, without the ending of its packing"""
    size: int | None = None
    """bytes; None where nobody here has seen the file"""
    sha256: str | None = None


@dataclass(frozen=True)
class DataHome:
    """A folder with data sets."""

    folder: Path

    @classmethod
    def default(cls) -> DataHome:
        """The folder that ``LESSREGRET_DATA`` names, else one of the user's."""
        named = os.environ.get(VARIABLE)
        if named:
            return cls(Path(named))
        import platformdirs

        return cls(Path(platformdirs.user_data_dir("lessregret", appauthor=False)))

    def find(self, file: DataFile) -> Path | None:
        """Where the file lies, packed or not; None where it does not."""
        places = (self.folder / (file.path + ending) for ending in UNPACK)
        return next((place for place in places if place.is_file()), None)

    def read(self, file: DataFile) -> bytes:
        """The content of the file, unpacked and checked."""
        place = self.find(file)
        if place is None:
            endings = ", ".join(ending for ending in UNPACK if ending)
            expected = f"{file.path} (or {endings}) in the data home, see 'lessregret data'"
            raise InputError(str(self.folder), 0, 0, "nothing of that name", expected)
        return checked(place, file, unpacked(place))


def unpacked(place: Path) -> bytes:
    """The content of a file, unpacked as its ending says."""
    ending = place.suffix if place.suffix in UNPACK else ""
    try:
        return UNPACK[ending](place.read_bytes())
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise InputError(str(place), 0, 0, str(error), f"a whole {ending[1:]} file") from None


def checked(place: Path, file: DataFile, content: bytes) -> bytes:
    """The content, if it is the one that the results here were made with."""
    if file.sha256 is None:
        return content
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        expected = f"content with SHA-256 {file.sha256[:12]}…"
        raise InputError(str(place), 0, 0, f"{found[:12]}…, {len(content):,} bytes", expected)
    return content
