"""Worker processes keep to one thread each, and the caller's environment comes back as it was."""

import os

import pytest

from graphghha.lab.training.workers import ONE_THREAD, worker_processes


@pytest.mark.parametrize("before", [None, "3"])
def test_a_worker_has_one_thread_and_the_caller_keeps_its_own(before, monkeypatch):
    for name in ONE_THREAD:
        if before is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, before)
    with worker_processes(1) as pool:
        assert pool.submit(os.getenv, "OPENBLAS_NUM_THREADS").result() == "1"
    assert {os.environ.get(name) for name in ONE_THREAD} == {before}
