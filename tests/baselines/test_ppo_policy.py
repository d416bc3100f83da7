"""The batched law of PPO's choices is the one of Stable-Baselines3."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="ppo needs the extra `rl`")
distributions = pytest.importorskip(
    "stable_baselines3.common.distributions", reason="ppo needs the extra `rl`"
)

from baselines.ppo_policy import BatchedMultiCategorical

DIMS = [3, 1, 7, 2]


@pytest.fixture
def laws():
    logits = torch.randn(50, sum(DIMS), generator=torch.Generator().manual_seed(0)) * 3
    ours = logits.clone().requires_grad_()
    theirs = logits.clone().requires_grad_()
    return (
        (ours, BatchedMultiCategorical(DIMS).proba_distribution(ours)),
        (theirs, distributions.MultiCategoricalDistribution(DIMS).proba_distribution(theirs)),
    )


def test_log_probability_entropy_and_gradients_agree(laws):
    rng = np.random.default_rng(0)
    actions = torch.from_numpy(rng.integers(0, DIMS, (50, len(DIMS)))).float()
    gradients = []
    figures = []
    for logits, law in laws:
        figures.append((law.log_prob(actions), law.entropy()))
        (figures[-1][0].sum() + 0.3 * figures[-1][1].sum()).backward()
        gradients.append(logits.grad)
    for ours, theirs in zip(*figures, strict=True):
        torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(*gradients)
    assert torch.equal(laws[0][1].mode(), laws[1][1].mode())


def test_samples_follow_the_law():
    logits = torch.randn(1, sum(DIMS), generator=torch.Generator().manual_seed(1))
    law = BatchedMultiCategorical(DIMS).proba_distribution(logits.expand(40_000, -1))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        drawn = law.sample()
    for column, part in enumerate(torch.split(logits[0], DIMS)):
        share = torch.bincount(drawn[:, column], minlength=DIMS[column]) / len(drawn)
        torch.testing.assert_close(share, part.softmax(0), atol=0.02, rtol=0)
