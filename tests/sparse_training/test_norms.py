import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sparse_training import layer_norm
from tests.sparse_training.nets import refuses

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


@settings(max_examples=20, deadline=None)
@given(
    st.integers(8, 40), st.integers(1, 600), st.booleans(), st.sampled_from(list(TOLERANCE)),
    st.integers(0, 99),
)  # fmt: skip
def test_it_is_torch_s_with_its_gradients(features, rows, bias, dtype, seed):
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=dtype)

    x = (3 + draw(features, rows)).requires_grad_()
    weights = [draw(features).requires_grad_() for _ in range(1 + bias)]
    above = draw(features, rows)
    mine = layer_norm(x, *weights)
    theirs = torch.nn.functional.layer_norm(x.t(), (features,), *weights).t()
    pairs = [[y, *torch.autograd.grad(y, [x, *weights], above)] for y in (mine, theirs)]
    for a, b in zip(*pairs, strict=True):
        assert (a - b).abs().max() <= TOLERANCE[dtype] * max(1.0, b.abs().max().item())


def test_wrong_input() -> None:
    ones, half = torch.ones(4), torch.ones(4, dtype=torch.float16)
    refuses("expected float32 or float64", layer_norm, half.repeat(3, 1).t(), half)
    refuses(r"expected \(features, rows\)", layer_norm, torch.ones(3, 4), ones)
