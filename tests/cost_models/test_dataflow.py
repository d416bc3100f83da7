"""The dataflow language: parsing, printing, and lowering of mappings."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cost_models import (
    Dataflow,
    DataflowError,
    Directive,
    InfeasibleError,
    Mapping,
    MappingError,
    ReasonCode,
    loop_nest,
    parse_dataflow,
    parse_network,
    print_network,
)
from cost_models.dataflow import size_of
from layers import Layer, LayerKind
from tests.cost_models.tiny import clipped, random_layer, random_mapping

SIZES = st.one_of(
    st.integers(1, 999).map(str),
    st.sampled_from(["Sz(R)", "8+Sz(S)-1", "Sz(Y)-Sz(R)+1"]),
)
MAPS = st.builds(
    Directive,
    st.sampled_from(["TemporalMap", "SpatialMap"]),
    SIZES,
    SIZES,
    st.sampled_from(["K", "C", "Y", "X", "Y'", "X'", "R", "S", "N", "G", "M"]),
)
CLUSTERS = st.builds(Directive, st.just("Cluster"), SIZES, st.sampled_from(["P", "L"]))
DATAFLOWS = st.lists(st.one_of(MAPS, CLUSTERS), max_size=20).map(lambda d: Dataflow(tuple(d)))


@given(DATAFLOWS)
def test_parse_reads_back_what_print_wrote(dataflow):
    assert parse_dataflow(str(dataflow)) == dataflow
    assert parse_dataflow(f"Dataflow {{ {dataflow} }}") == dataflow


def test_parse_takes_comments_blanks_and_missing_commas():
    text = """
        // weights stay
        SpatialMap( Sz(R) , 1 ) Y ;  TemporalMap(8 + Sz(S) - 1 8) X // no semicolon
        Cluster(tile, P);
    """
    dataflow = parse_dataflow(text, {"tile": 4})
    assert str(dataflow).split("\n") == [
        "SpatialMap(Sz(R),1) Y;",
        "TemporalMap(8+Sz(S)-1,8) X;",
        "Cluster(4,P);",
    ]
    assert [len(level) for level in dataflow.levels] == [2, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TemporalMapp(1,1) K;", "Did you mean 'TemporalMap'"),
        ("TemporalMap(1,1 K;", "expected '\\)'"),
        ("TemporalMap(1,1);", "expected a dimension"),
        ("Cluster(4,Q);", "expected P or L"),
        ("SpatialMap(,1) K;", "expected a size"),
        ("SpatialMap(1,1) K; }", "after the directives"),
        ("SpatialMap(1,1) K; $", "unexpected text"),
    ],
)
def test_parse_names_what_is_wrong(text, message):
    with pytest.raises(DataflowError, match=message):
        parse_dataflow(text)


def test_sizes_are_sums():
    assert size_of("8+Sz(S)-1", {"S": 5}) == 12
    with pytest.raises(DataflowError, match="no dimension 'Q'"):
        size_of("Sz(Q)", {"S": 5})
    with pytest.raises(DataflowError, match="expected a sum"):
        size_of("tile", {})


def test_lowering_reads_back():
    rng, tried = np.random.default_rng(0), 0
    while tried < 100:
        layer = random_layer(rng)
        mapping = replace(clipped(random_mapping(rng, layer), layer), num_pes=None)
        if layer.kind in (LayerKind.GEMM, LayerKind.TRCONV):
            continue
        if layer.depthwise:  # K has one iteration; its place is lost, and read back inside N and G
            orders = tuple("NGK" + order[2:].replace("K", "") for order in mapping.orders)
            parallel = tuple(dim.replace("K", "C") for dim in mapping.parallel)
            mapping = replace(mapping, orders=orders, parallel=parallel)
        dataflow = mapping.dataflow(layer)
        assert Mapping.from_dataflow(dataflow, layer) == mapping
        assert parse_network(print_network([(layer, dataflow)])) == [(layer, dataflow)]
        tried += 1


def test_lowering_without_a_layer_is_stride_one():
    mapping = Mapping(("KCYXRS", "CKYXRS"), ("K", "C"), ({"Y": 4, "X": 3}, {"Y": 2, "X": 1}), 16)
    assert "TemporalMap(4,4) Y';" in str(mapping.dataflow()).split("\n")
    assert "SpatialMap(Sz(K),Sz(K)) K;" in str(mapping.dataflow()).split("\n")
    with pytest.raises(MappingError, match="Y is missing"):
        Mapping(("KCYXRS", "CKYXRS"), ("K", "C"), ({}, {}), 16).dataflow()


def test_lowering_refuses_parallel_k_of_a_depthwise_layer():
    layer = Layer("dw", LayerKind.DSCONV, K=1, C=8, Y=10, X=10, R=3, S=3)
    mapping = Mapping(("KCYXRS", "CKYXRS"), ("K", "C"), ({}, {}), 4)
    with pytest.raises(MappingError, match="depthwise"):
        mapping.dataflow(layer)


def test_tiles_above_the_extent_are_clipped():
    layer = Layer("l", LayerKind.CONV, K=2, C=3, Y=5, X=5, R=3, S=3)
    mapping = Mapping(("KCYXRS", "CKYXRS"), ("K", "C"), ({"Y": 99}, {"Y": 50, "K": 7}), 4)
    read = Mapping.from_dataflow(mapping.dataflow(layer), layer)
    assert (read.tiles[0]["Y"], read.tiles[1]["Y"], read.tiles[1]["K"]) == (3, 3, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SpatialMap(Sz(R),1) Y; SpatialMap(1,1) R;", "spreads 2 dimensions"),
        ("TemporalMap(2,2) K;", "spreads 0 dimensions"),
        ("SpatialMap(2,1) K;", "expected an offset of 2"),
        ("SpatialMap(4,4) K; TemporalMap(1,1) R; TemporalMap(2,1) S;", "offset of 2"),
        ("SpatialMap(4,1) Y;", "expected an offset of 2"),
        ("SpatialMap(1,1) K; TemporalMap(1,1) K;", "maps K twice"),
        ("SpatialMap(1,1) Q;", "maps 'Q'"),
        ("SpatialMap(0,0) K;", "expected at least 1"),
        ("SpatialMap(1,1) K; Cluster(2,P); SpatialMap(1,1) C; Cluster(2,P);", "3 levels"),
    ],
)
def test_what_is_no_partition_has_a_typed_reason(text, message):
    layer = Layer("l", LayerKind.CONV, K=8, C=3, Y=9, X=9, R=3, S=3)
    with pytest.raises(InfeasibleError, match=message) as caught:
        Mapping.from_dataflow(parse_dataflow(text), layer)
    assert caught.value.infeasible.code is ReasonCode.NOT_A_PARTITION
    assert caught.value.infeasible.levers


NETWORK = """
// a small file
Constant Rows 6;
Network tiny {
  Layer one {
    Type: CONV
    Dimensions { K: 4, C: 2 R: 3, S: 3, Y:Rows, X: 6 }   // a missing comma
    Dataflow { SpatialMap(1,1) K; TemporalMap(Sz(R),1) Y; }
  }
  Layer one { Type: DSCONV Stride { X: 2, Y: 2 } Dimensions { K 1,C 4,R 3,S 3,Y 8,X 8 } }
  Layer product {
    Type: GEMM
    Dimensions { M: 5, N: 6, K: 7 }
    Dataflow { SpatialMap(1,1) M; }
  }
}
"""


def test_networks_keep_order_repeated_names_and_the_last_dataflow():
    (first, flow), (second, inherited), (third, _) = parse_network(NETWORK)
    assert (first.name, first.Y, first.K) == ("one", 6, 4)
    assert (second.name, second.kind, second.stride) == ("one", LayerKind.DSCONV, 2)
    assert inherited == flow
    assert (second.Y, second.given_y) == (7, 8)
    assert (third.kind, third.extents) == (LayerKind.GEMM, (6, 7, 5, 1, 1, 1, 1, 1))


def test_k_of_a_depthwise_layer_counts_only_where_it_is_mapped():
    text = NETWORK.replace(
        "{ K 1,C 4,R 3,S 3,Y 8,X 8 }", "{ K 4,C 4,R 3,S 3,Y 8,X 8 } Dataflow {} "
    )
    unmapped = text.replace("Dataflow {}", "Dataflow { SpatialMap(1,1) C; }")
    assert parse_network(unmapped)[1][0].K == 1
    with pytest.raises(DataflowError, match="K=1"):
        parse_network(text.replace("Dataflow {}", "Dataflow { SpatialMap(1,1) K; }"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Type: CONV", "Type: CONVV", "Did you mean 'CONV'"),
        ("Rows 6", "Rows six", "expected a whole number"),
        ("Dimensions { K: 4", "Dimension { K: 4", "Did you mean 'Dimensions'"),
        ("Y:Rows", "Y: 2", "larger"),
    ],
)
def test_network_errors_name_the_line(old, new, message):
    with pytest.raises(DataflowError, match=rf"net\.m:\d+: .*{message}"):
        parse_network(NETWORK.replace(old, new), "net.m")


def test_strides_may_differ():
    network = NETWORK.replace("X: 2, Y: 2", "X: 1, Y: 2")
    pairs = parse_network(network)
    assert pairs[1][0].stride == (2, 1)
    assert parse_network(print_network(pairs))[1] == pairs[1]


def test_the_language_has_no_word_for_dilation():
    layer = Layer("l", LayerKind.CONV, K=4, C=4, Y=9, X=9, R=3, S=3, dilation=2)
    flow = Mapping(("KCYXRS",) * 2, ("K", "C"), ({}, {}), 4).dataflow(layer)
    with pytest.raises(DataflowError, match="dilation=2"):
        print_network([(layer, flow)])


def test_loop_nest_shows_levels_parallel_dimensions_and_what_is_not_kept():
    layer = Layer("l", LayerKind.CONV, K=16, C=32, Y=16, X=16, R=3, S=3)
    tiles = ({"K": 4, "Y": 7}, {"K": 1, "C": 2, "Y": 7, "X": 1})
    spread = Mapping(("KCYXRS", "CKYXRS"), ("K", "C"), tiles, 16)
    passing = (frozenset({"filter"}), frozenset())
    mapping = replace(spread, parallel2=("Y", None), units=(2, None), bypass=passing)
    text = loop_nest(mapping, layer, num_pes=64)
    assert text.startswith("DRAM -> L2 ")
    for shown in (
        "parallel K1 on 2 clusters",
        "parallel Y1 on 2 clusters",
        "parallel C0 on 16 PEs",
    ):
        assert shown in text
    assert "K=1 C=2 Y=7 X=1 R=3 S=3" in text
    assert "L2             |               not kept: filter" in text
