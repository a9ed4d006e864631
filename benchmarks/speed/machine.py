"""What a record says of the machine: enough to compare, nothing that names it."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def describe() -> str:
    """Processor, cores, memory, system, Python."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = os.cpu_count()
    system = f"{platform.system()} {platform.machine()}"
    python = f"Python {platform.python_version()}"
    return f"{processor()}, {cores} cores, {memory:.0f} GiB, {system}, {python}"


def processor() -> str:
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.processor() or "unknown processor"


def load() -> float:
    """The load average of the last minute: well above 0, times are not to be trusted."""
    return os.getloadavg()[0]


def available_memory() -> int:
    """The bytes that can be had without swapping, or half of all where that is not told."""
    try:
        found = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        found = None
    everything = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 1024 * int(found[1]) if found else everything // 2
