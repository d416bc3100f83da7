import sys
import numpy as np, layers, time, baselines
from maestro_env import Problem
from baselines.optimal.solve import *
from baselines.optimal.structure_space import StructureSpace
from cost_models.exact.bounds import ExactBounds
def leaves_of(layer,acc,obj,V,model="exact"):
    p=Problem(layer,acc,obj,model); sp=StructureSpace(p.space)
    b=ExactBounds(p.cost_model,p.layer,p.accelerator,p.objective.figures,{},sp.structures)
    p.best_value=V
    s=Solver(p,b,sp); got=[]
    s._evaluate=lambda sets: got.append(sets)
    t=time.process_time(); s.run(); print("time",time.process_time()-t, s.counts)
    return p,sp,s,Sets.joined(got)
if __name__=="__main__":
    l=[x for x in layers.network("mobilenetv2") if x.name.endswith(sys.argv[1])][0]
    p,sp,s,L=leaves_of(l,"edge",sys.argv[2],float(sys.argv[3]))
    print(len(L))
    D=sp.tiles.shape[1]; dims=np.arange(D); st=sp.structures
    T1=sp.tiles[0,dims,L.boxes[:,0]]; T0=np.minimum(sp.tiles[1,dims,L.boxes[:,2]],T1)
    n=np.array(l.extents); i=np.arange(len(L)); a=st.parallel[L.which,0]; c=st.parallel[L.which,1]
    NC=st.num_pes[L.which]//st.cluster_size[L.which]
    bc=np.minimum(NC,np.ceil(n[a]/T1[i,a])); bm=np.minimum(st.cluster_size[L.which],np.ceil(T1[i,c]/T0[i,c]))
    a2=np.where((bc==1)&(a<2),-1,a); c2=np.where((bm==1)&(c<2),-1,c)
    key=np.column_stack([T1,T0,bc,bm,a2,c2])
    print("distinct nests",len(np.unique(key,axis=0)))
    m=s._orders.iterating(L.which,L.boxes)
    rng=np.random.default_rng(0); pick=rng.choice(len(L),min(300,len(L)),replace=False)
    tot=0;low=[];frac=[]
    for j in pick:
        acts=s._orders.actions(L.which[j:j+1],L.boxes[j:j+1])[0]; v=p.look(acts).values; tot+=len(acts)
        low.append(v.min()/L.bounds[j])
    low=np.array(low); print("orders per leaf",tot/len(pick),"min/bound quantiles",np.quantile(low,[0,.1,.25,.5,.75,.9,1]), "V/bound",np.quantile(float(sys.argv[3])/L.bounds[pick],[0,.5,1]))
    for j in pick[:6]:
        acts=s._orders.actions(L.which[j:j+1],L.boxes[j:j+1])[0]; e=p.look(acts); k=int(np.argmin(e.values)); print(e.mappings[k], e.values[k], L.bounds[j], {q:int(e.costs[k].counts[q]) for q in ("compute_cycles","noc_in_cycles","noc_out_cycles","dram_in_cycles","dram_out_cycles","outer_steps","steps")})
