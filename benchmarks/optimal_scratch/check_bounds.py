import sys,time,numpy as np
from maestro_env import Problem
from cost_models.exact.bounds import ExactBounds
from cost_models.lower_bounds import Structures
import baselines
from baselines.optimal.structure_space import StructureSpace
def structures(p): return StructureSpace(p.space).structures
VB=[]
def check(layer,acc,obj,space=None,model="exact",n=4000,seed=0,budget=4000,verbose=True):
    p=Problem(layer,acc,obj,model,space=space)
    s=structures(p)
    b=ExactBounds(p.cost_model,p.layer,p.accelerator,p.objective.figures,{},s)
    key={tuple(x):i for i,x in enumerate(np.column_stack([s.parallel,s.cluster_size,s.num_pes]).tolist())}
    got=[p.space.sample(n,seed)]
    p.on_evaluate=lambda a,e:got.append(a.copy())
    if budget: baselines.load("ga").search(p,budget,seed)
    p.on_evaluate=None
    a=np.concatenate(got); e=p.look(a); v=e.values
    ok=np.isfinite(v); m=e.mappings.take(np.flatnonzero(ok)); v=v[ok]; B=len(v)
    if B==0: return
    pes=np.full(B,p.accelerator.num_pes) if m.num_pes is None else m.num_pes
    which=np.array([key[tuple(x)] for x in np.column_stack([m.parallel,m.cluster_size,pes]).tolist()])
    D=m.tiles.shape[2]
    i1=np.stack([np.searchsorted(s.outer_tiles[d],m.tiles[:,0,d]) for d in range(D)],1)
    i0=np.stack([np.minimum(np.searchsorted(s.inner_tiles[d],m.tiles[:,1,d]),len(s.inner_tiles[d])-1) for d in range(D)],1)
    L1=np.array([len(x)-1 for x in s.outer_tiles]); L0=np.array([len(x)-1 for x in s.inner_tiles])
    z=np.zeros_like(i0)
    rng=np.random.default_rng(seed)
    def widen(i,L):
        r=rng.integers(0,4,i.shape); lo=np.maximum(0,i-r); r=rng.integers(0,4,i.shape); return lo,np.minimum(L,i+r)
    def box(a,b,c,d): return np.stack([a,b,c,d],1).astype(np.int16)
    sets={"leaf":box(i1,i1,i0,i0),"outer":box(i1,i1,z,z+L0),"innerbox":box(i1,i1,*widen(i0,L0)),"outerbox":box(*widen(i1,L1),z,z+L0),"joint":box(*widen(i1,L1),*widen(i0,L0)),"root":box(z,z+L1,z,z+L0)}
    top=np.argsort(v)[:200]; res=[]; bad=0
    for k,x in sets.items():
        t=time.process_time(); y=b.bounds(which,x); t=time.process_time()-t
        w=(y*(1-1e-9)>v); bad+=w.sum()
        if w.any():
            i=int(np.argmax(y/v)); res.append(k+"%.4f"%(y[i]/v[i])); VB.append((k,y[i]/v[i],m[i])); 0 and print("   BAD",k,int(w.sum()),y[i]/v[i],p.layer,p.accelerator,obj,m[i])
        res.append(f"{k} {np.median((y/v)[top]):.3f} {t/B*1e6:.2f}us")
    if verbose: print(layer,acc,obj,"n",B,"bad",bad," | ".join(res),flush=True)
    return bad
if __name__=="__main__":
    check("mlp.2","edge","edp")
    for l in ["mobilenetv2.2","vgg16.4","bert_base.1","mobilenetv2.32","resnet18.0","alexnet.0","mobilenetv2.1"]:
        for o in ["edp","latency","energy"]:
            check(l,"edge",o)
