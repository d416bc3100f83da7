// Directives of one layer: filters spread over clusters, channels over the PEs of a cluster.
SpatialMap(1,1) K;
TemporalMap(64,64) C;
TemporalMap(Sz(R),Sz(R)) R;
TemporalMap(Sz(S),Sz(S)) S;
TemporalMap(1,1) Y';
TemporalMap(1,1) X';
Cluster(64,P);
SpatialMap(1,1) C;
TemporalMap(Sz(R),Sz(R)) R;
TemporalMap(Sz(S),Sz(S)) S;
TemporalMap(1,1) Y';
TemporalMap(1,1) X';
