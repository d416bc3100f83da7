"""One thread: the networks are small, and other tests run beside."""

import pytest


@pytest.fixture(autouse=True)
def _one_thread():
    try:
        import torch
    except ImportError:  # worlds and replay need none
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
