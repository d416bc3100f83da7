// A whole network brings its layers along: mapper evaluate --dataflow docs/examples/two_layers.m
Network small {
  Layer conv1 {
    Type: CONV
    Stride { X: 1, Y: 1 }
    Dimensions { K: 32, C: 16, R: 3, S: 3, Y: 30, X: 30 }
    Dataflow {
      SpatialMap(1,1) Y';
      TemporalMap(8,8) K;
      TemporalMap(16,16) C;
      TemporalMap(28,28) X';
      TemporalMap(Sz(R),Sz(R)) R;
      TemporalMap(Sz(S),Sz(S)) S;
      Cluster(8,P);
      SpatialMap(1,1) K;
      TemporalMap(16,16) C;
      TemporalMap(1,1) X';
      TemporalMap(Sz(R),Sz(R)) R;
      TemporalMap(Sz(S),Sz(S)) S;
    }
  }
  Layer conv2 {
    Type: CONV
    Stride { X: 1, Y: 1 }
    Dimensions { K: 64, C: 32, R: 1, S: 1, Y: 28, X: 28 }
    Dataflow {
      SpatialMap(1,1) Y';
      TemporalMap(8,8) K;
      TemporalMap(32,32) C;
      TemporalMap(28,28) X';
      TemporalMap(1,1) R;
      TemporalMap(1,1) S;
      Cluster(4,P);
      SpatialMap(1,1) K;
      TemporalMap(32,32) C;
      TemporalMap(1,1) X';
      TemporalMap(1,1) R;
      TemporalMap(1,1) S;
    }
  }
}
