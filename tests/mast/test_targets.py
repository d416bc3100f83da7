"""Targets by hand, operators in their bounds, mixers against enumeration."""

from itertools import product

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from hypothesis import given, settings
from hypothesis import strategies as st

from mast.mixers import QmixMixer
from mast.mixers.mixing import mixed
from mast.nets import NetLayer
from mast.operators import NearGreedy, double_maximum, soft_mellowmax
from mast.returns import lambda_returns, n_step_returns

REWARDS = np.array([[1.0, 2.0, 3.0, 4.0]])
AFTER = np.array([[10.0, 20.0, 30.0, 40.0]])
GAMMA = 0.5


def returns(kind, value, steps=4, terminated=False):
    out = np.empty((1, 4))
    ends = np.array([steps]), np.array([terminated])
    kind(REWARDS, AFTER, *ends, GAMMA, value, out)
    return out[0].tolist()


def test_lambda_returns_of_an_episode_that_was_cut():
    # G3 = 4 + 20 = 24; G2 = 3 + (30 + 24) / 4 = 16.5; G1 = 2 + (20 + 16.5) / 4; G0 likewise
    assert returns(lambda_returns, 0.5) == [6.28125, 11.125, 16.5, 24.0]
    assert returns(lambda_returns, 0.0) == [6.0, 12.0, 18.0, 24.0]
    assert returns(lambda_returns, 1.0) == [1 + 1 + 0.75 + 0.5 + 2.5, 2 + 1.5 + 1 + 5, 15.0, 24.0]


def test_lambda_returns_of_an_episode_that_ended():
    assert returns(lambda_returns, 1.0, terminated=True) == [3.25, 4.5, 5.0, 4.0]
    assert returns(lambda_returns, 0.0, terminated=True) == [6.0, 12.0, 18.0, 4.0]
    assert returns(lambda_returns, 0.5, steps=2) == [1 + 0.25 * (10 + 12), 12.0, 0.0, 0.0]


def test_returns_of_three_steps():
    assert returns(n_step_returns, 1) == returns(lambda_returns, 0.0)
    assert returns(n_step_returns, 3) == [1 + 1 + 0.75 + 30 / 8, 2 + 1.5 + 1 + 5, 15.0, 24.0]
    assert returns(n_step_returns, 3, terminated=True) == [6.5, 4.5, 5.0, 4.0]
    assert returns(n_step_returns, 4) == returns(lambda_returns, 1.0)


VALUES = st.lists(st.floats(-30, 30), min_size=2, max_size=6)


@settings(max_examples=60, deadline=None)
@given(VALUES, st.floats(0, 5), st.floats(0.1, 50), st.data())
def test_soft_mellowmax_lies_between_weighted_mean_and_maximum(values, alpha, omega, data):
    q = torch.tensor(values, dtype=torch.float64)
    free = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    free[data.draw(st.integers(0, len(values) - 1))] = True
    mask = torch.tensor(free)
    found = float(soft_mellowmax(q, mask, alpha, omega))
    seen = q[mask]
    mean = float((torch.softmax(alpha * seen, 0) * seen).sum())
    assert mean - 1e-9 <= found <= float(seen.max()) + 1e-9
    p = torch.softmax(alpha * seen, 0)
    direct = float(torch.logsumexp(p.log() + omega * seen, 0) / omega)
    assert found == pytest.approx(direct, abs=1e-9)


def test_soft_mellowmax_goes_to_the_maximum_and_to_mellowmax():
    q = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    assert float(soft_mellowmax(q, None, 1.0, 1e5)) == pytest.approx(4.0, abs=1e-4)
    mellow = float(torch.logsumexp(5 * q, 0) - np.log(3)) / 5
    assert float(soft_mellowmax(q, None, 0.0, 5.0)) == pytest.approx(mellow)


def test_the_online_network_chooses_and_the_target_values():
    target, online = torch.tensor([[1.0], [5.0], [9.0]]), torch.tensor([[3.0], [4.0], [8.0]])
    assert double_maximum(target, online, None).item() == 9.0
    free = torch.tensor([[True], [True], [False]])
    assert double_maximum(target, online, free).item() == 5.0


def mixer(n=3, width=5, states=4):
    start = torch.Generator().manual_seed(0)

    def make(*sizes, **options):
        return NetLayer(*sizes, layout="columns", generator=start, dtype=torch.float64, **options)

    return QmixMixer(n, states, width, 6, make)


def test_qmix_is_monotone_in_every_value_and_its_gradients_are_right():
    torch.manual_seed(0)
    mix, states = mixer(), torch.randn(4, 40, dtype=torch.float64)
    values = torch.randn(3, 40, dtype=torch.float64, requires_grad=True)
    mix(values, states).sum().backward()
    assert (values.grad >= 0).all()
    assert (values.grad > 0).any()
    # 3 agents, 2 units: 6 rows of first weights, 2 of biases, 2 of second weights and an offset
    raw = torch.randn(11, 4, dtype=torch.float64, requires_grad=True)
    short = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(mixed, (short, raw))


def test_mixing_is_what_it_says():
    values, raw = (torch.randn(s, 4, dtype=torch.float64) for s in (3, 11))
    first, bias, second, offset = torch.split(raw, [6, 2, 2, 1])
    weights = first.abs().reshape(3, 2, 4)
    hidden = torch.nn.functional.elu((values.unsqueeze(1) * weights).sum(0) + bias)
    expected = (hidden * second.abs()).sum(0) + offset[0]
    with torch.no_grad():
        torch.testing.assert_close(mixed(values, raw), expected)
    torch.testing.assert_close(mixed(values, raw), expected)


def test_res_is_the_softmax_over_near_greedy_joint_actions():
    torch.manual_seed(1)
    target, online = (torch.randn(4, 3, 7, dtype=torch.float64) for _ in range(2))
    ours, theirs = mixer(), mixer()
    states = torch.randn(4, 7, dtype=torch.float64)
    free = torch.rand(4, 3, 7) < 0.7
    free[0] = True
    with torch.no_grad():
        mixes = theirs.weights(states), ours.weights(states)
        found = NearGreedy.of((target, online), mixes, free).softmax(0.3)
        for row in range(7):
            best = online[:, :, row].masked_fill(~free[:, :, row], -torch.inf).argmax(0).tolist()
            known, worth = [], []
            for agent, action in product(range(3), range(4)):
                if not free[action, agent, row]:
                    continue
                joint = [*best]
                joint[agent] = action
                pick = torch.tensor(joint), torch.arange(3)
                at = states[:, row : row + 1]
                known.append(ours(online[:, :, row][pick].unsqueeze(1), at))
                worth.append(theirs(target[:, :, row][pick].unsqueeze(1), at))
            p = torch.softmax(0.3 * torch.cat(known), 0)
            assert found[row].item() == pytest.approx(float((p * torch.cat(worth)).sum()))
