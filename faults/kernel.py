"""The C kernel under the address and undefined-behaviour sanitizers, as CI runs it."""

import subprocess
import sys
from pathlib import Path

from faults.effort import Effort
from faults.figures import Figure, Progress, expect_none, report
from faults.rig import Rig, child_environment
from graphghha.engine.machine import compiler

FAULT = "C kernel under address and undefined-behaviour sanitizers"
CHECKOUT = Path(__file__).parents[1]
TEST = "tests/unit/engine/native/test_sanitizers.py"


def try_kernel(folder: Path, rig: Rig, effort: Effort, progress: Progress) -> list[Figure]:
    """Run the test of the checkout: fp32, fp16 and bf16 on odd graphs, widths and numbers, and a library that fails."""
    progress(FAULT)
    if compiler() is None:
        return [report(FAULT, "not tried", "there is no C compiler")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", TEST]
    done = subprocess.run(command, cwd=CHECKOUT, env=child_environment(), capture_output=True, check=False)
    return [expect_none(FAULT, "errors in fp32, fp16 and bf16, 156 odd calls each", int(done.returncode != 0))]
