import sys
import check_bounds as val2, numpy as np
from check_bounds import *
from cost_models.exact.bounds import box_kernel as bk, box_traffic, box_value
# python evaluation of flows through py_func chain is hard; expose by small compiled helper
from common.jit import compiled
from cost_models.exact.bounds.box_kernel import *
from cost_models.exact.bounds import box_kernel
from cost_models.exact.bounds.box_fields import *
from cost_models.exact.bounds.box_rows import *
from cost_models.exact.bounds.bound_problem import *
import inspect
src=inspect.getsource(bk.bound_one.py_func)
@compiled
def probe(facts,flags,offers,units,spread,box,work,rows,dram,flows,clock):
    v=bk_bound(facts,flags,offers,units,spread,box,work,rows,dram,flows,clock)
    return v
bk_bound=bk.bound_one
def show(layer,acc,m,model="exact",space=None,obj="energy"):
    p=Problem(layer,acc,obj,model,space=space); s=structures(p)
    b=ExactBounds(p.cost_model,p.layer,p.accelerator,p.objective.figures,{},s)
    D=len(s.outer_tiles); L="KCYXRSNG"
    key={tuple(x):i for i,x in enumerate(np.column_stack([s.parallel,s.cluster_size,s.num_pes]).tolist())}
    a=key[(L.index(m.parallel[0]),L.index(m.parallel[1]),m.cluster_size,m.num_pes or p.accelerator.num_pes)]
    i1=[int(np.searchsorted(s.outer_tiles[d],m.tiles[0][L[d]])) for d in range(D)]
    i0=[min(int(np.searchsorted(s.inner_tiles[d],m.tiles[1][L[d]])),len(s.inner_tiles[d])-1) for d in range(D)]
    box=np.array([i1,i1,i0,i0],np.int16)
    work=np.ones((BOX_FIELDS,D)); work[RAGGED]=0
    rows=np.zeros((2,ROW_FIELDS)); dram=np.zeros((3,3)); flows=np.zeros((FLOWS,4)); clock=np.zeros(CLOCK)
    f,fl,of=b._problem
    v=probe(f,fl,of,b._units[a],b._spread[a],box,work,rows,dram,flows,clock)
    c=p.cost_model.evaluate(p.layer,p.accelerator,m)
    print(m, p.layer.extents); print("bound",v,"cost",c.energy_nj,c.latency_cycles)
    print({k:c.counts[k] for k in ("dram_in","dram_fil","dram_out_w","l2r_in","l2r_fil","l2w_out","l1w_in","l1w_fil","l1drain_out","compute_cycles","latency")})
    np.set_printoptions(suppress=True,linewidth=200)
    print("dram\n",dram,"\nflows\n",flows,"\nrows\n",rows.reshape(2,4,5),"\nshare",work[RAGGED],"steps",work[STEPS],"N",work[OUTER_STEPS])
if __name__=="__main__":
    bad=[]
    orig=val2.check
    import builtins
    for l,o in [("mobilenetv2.1","energy"),("vgg16.4","energy"),("alexnet.0","edp"),("vgg16.4","edp"),("resnet18.0","energy")]:
        import io,contextlib
        buf=[]
        def pr(*a,**k): buf.append(a)
        val2.print=pr
        orig(l,"edge",o)
        for a in buf:
            if a and str(a[0]).startswith("   BAD"): print(l,o,a[1],a[3]); show(l,"edge",a[-1],obj=o); break
