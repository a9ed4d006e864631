"""Pictures as files."""

from __future__ import annotations

import io
import os
from typing import Any

from lessregret.data.output import write_file


def save_picture(figure: Any, path: str) -> None:
    """Write a figure to a PNG, SVG or PDF file; the file is afterwards whole, or as it was."""
    content = io.BytesIO()
    figure.savefig(content, dpi=150, format=os.path.splitext(path)[1][1:].lower())
    write_file(path, content.getvalue())
