"""Hypothesis strategies of layers."""

from hypothesis import strategies as st

from layers import Layer, LayerKind

extent = st.integers(1, 12)


@st.composite
def any_layer(draw: st.DrawFn) -> Layer:
    kind = draw(st.sampled_from(list(LayerKind)))
    if kind is LayerKind.GEMM:
        return Layer.gemm("g", *(draw(extent) for _ in range(3)), batch=draw(st.integers(1, 4)))
    R, S = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    spread = draw(st.one_of(st.integers(1, 3), st.tuples(st.integers(1, 3), st.integers(1, 3))))
    down, across = (spread, spread) if isinstance(spread, int) else spread
    rows, columns = down * (R - 1) + 1 + draw(extent), across * (S - 1) + 1 + draw(extent)
    padding = [
        draw(st.integers(0, min(3, size // 2 - 1))) for size in (rows, rows, columns, columns)
    ]
    return Layer(
        "l",
        kind,
        K=1 if kind is LayerKind.DSCONV else draw(extent),
        C=draw(extent),
        Y=rows,
        X=columns,
        R=R,
        S=S,
        stride=draw(st.one_of(st.integers(1, 4), st.tuples(st.integers(1, 4), st.integers(1, 4)))),
        N=draw(st.integers(1, 3)),
        groups=draw(st.integers(1, 3)) if kind is LayerKind.NGCONV else 1,
        dilation=spread,
        padding=tuple(padding),
    )
