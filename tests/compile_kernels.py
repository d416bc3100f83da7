"""Compile what many tests of sparse layers run, once; `make test` runs this beside the lint.

Each process of pytest would otherwise compile the same functions for itself, at the same time.
"""


def main() -> None:
    """Multiply, normalise and learn with sparse layers of both units and types."""
    import torch

    from sparse_training import SparseAdam, SparseLinear, Sparsifier, SparsityConfig, layer_norm

    for dtype in (torch.float32, torch.float64):
        for unit in ("free", "block4"):
            layer = SparseLinear(16, 16, layout="columns", backend="compiled", dtype=dtype)
            Sparsifier({"layer": layer}, SparsityConfig(0.5, unit=unit)).attach()
            x = torch.ones(16, 3, dtype=dtype, requires_grad=True)
            layer_norm(layer(x), torch.ones(16, dtype=dtype)).sum().backward()
            SparseAdam(layer.parameters(), clip=1.0).step()


if __name__ == "__main__":
    main()
