"""Compile what many tests run, once; `make test` runs this beside the lint.

Each process of pytest would otherwise compile the same functions for itself, at the same time.
"""


def main() -> None:
    """Use all that sparse layers have in both types, and train small runs of mast and mpe_marl."""
    from dataclasses import replace

    import torch

    import sparse_training as sparse
    from mpe_marl import LearnerConfig, TrainConfig, Trainer
    from tests.mast.small import SMALL, trained

    for dtype in (torch.float32, torch.float64):
        x = torch.ones(24, 3, dtype=dtype, requires_grad=True)
        attended = sparse.offset_attention(x, 2, 1, (0, 1))
        (sparse.gelu(x).sum() + attended.sum()).backward()
        for unit in ("free", "block4"):
            layer = sparse.SparseLinear(24, 16, layout="columns", backend="compiled", dtype=dtype)
            sparse.Sparsifier({"layer": layer}, sparse.SparsityConfig(0.5, unit=unit)).attach()
            sparse.layer_norm(layer(x), torch.ones(16, dtype=dtype)).sum().backward()
            sparse.SparseAdam(layer.parameters(), clip=1.0).step()
        name = str(dtype).removeprefix("torch.")
        trained(replace(SMALL, backend="compiled", dtype=name), steps=400)
    for mode, layout, law in (("folded", "state", "shared"), ("batched", "joint", "prioritised")):
        config = TrainConfig(
            world="simple_spread", layout=layout, law=law, capacity=500, batch=16, warmup=40,
            learner=LearnerConfig(mode=mode, hidden=8),
        )  # fmt: skip
        Trainer(config).run(4)


if __name__ == "__main__":
    main()
