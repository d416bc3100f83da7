import sys,time,numpy as np
from check_bounds import structures
from maestro_env import Problem
from cost_models import MappingBatch
from cost_models.exact.bounds import ExactBounds
from baselines.enumeration import _Orders, _iterating
from common.jit import compiled
import baselines, math
D=6
@compiled
def split(boxes, t1, t0, rule, out, leaf):
    """children of boxes; t1,t0 (D,most) values, logs"""
    n=0
    for i in range(len(boxes)):
        best=0.0; lev=-1; dim=-1
        for d in range(boxes.shape[2]):
            lo,hi=boxes[i,0,d],boxes[i,1,d]
            if hi>lo:
                g=math.log(t1[d,hi]/t1[d,lo])*rule[0,d]
                if g>best: best=g; lev=0; dim=d
            a,b=boxes[i,2,d],boxes[i,3,d]
            if b>a:
                g=math.log(min(t0[d,b],t1[d,hi])/t0[d,a])
                g=max(g,1e-3)*rule[1,d]
                if g>best: best=g; lev=1; dim=d
        if lev<0:
            leaf[i]=True; continue
        leaf[i]=False
        lo,hi=boxes[i,2*lev,dim],boxes[i,2*lev+1,dim]
        mid=(lo+hi)//2
        for c in range(2):
            out[n]=boxes[i]
            if c==0: out[n,2*lev+1,dim]=mid
            else: out[n,2*lev,dim]=mid+1
            if lev==0:
                top=t1[dim,out[n,1,dim]]
                h=out[n,3,dim]
                while h>out[n,2,dim] and t0[dim,h-1]>=top: h-=1
                out[n,3,dim]=h
                # nothing left if low inner beyond
            n+=1
    return n
def solve(layer,acc,obj="edp",model="exact",space=None,given=None,verbose=True,rule=(1000.0,1.0),limit=1e9,batch=4096,NB=256):
    T0=time.process_time()
    p=Problem(layer,acc,obj,model,space=space); sp=p.space; ext=p.layer.extents
    s=structures(p)
    b=ExactBounds(p.cost_model,p.layer,p.accelerator,p.objective.figures,{},s)
    if given is None: best=baselines.load("ga").search(p,3000,0).best_value
    else: best=given
    start=best
    tol=1+1e-9
    most=max(len(x) for x in (*s.outer_tiles,*s.inner_tiles))
    V1=np.ones((D,most)); V0=np.ones((D,most))
    for d in range(D): V1[d,:len(s.outer_tiles[d])]=s.outer_tiles[d]; V0[d,:len(s.inner_tiles[d])]=s.inner_tiles[d]
    R=np.ones((2,D)); R[0]=rule[0]; R[1]=rule[1]
    A=len(s)
    boxes=np.zeros((A,4,D),np.int16); boxes[:,1]=[len(x)-1 for x in s.outer_tiles]; boxes[:,3]=[len(x)-1 for x in s.inner_tiles]
    which=np.arange(A)
    t=time.process_time(); bd=b.bounds(which,boxes); tb=time.process_time()-t
    nodes=A; orders=0; leaves=0; iters=0; teval=0; tsplit=0
    root=bd.min()
    edges=np.linspace(root,max(best,root*1.0000001),NB+1)
    Q=[[] for _ in range(NB+1)]
    def push(w,x,y):
        k=y*tol<best
        if not k.all(): w,x,y=w[k],x[k],y[k]
        if not len(y): return
        q=np.clip(np.searchsorted(edges,y,side="right")-1,0,NB)
        o=np.argsort(q,kind="stable"); w,x,y,q=w[o],x[o],y[o],q[o]
        cut=np.flatnonzero(np.diff(q))+1; st=[0,*cut.tolist(),len(q)]
        for i,j in zip(st,st[1:]): Q[q[i]].append((w[i:j],x[i:j],y[i:j]))
    push(which,boxes,bd)
    OR=[_Orders(sp,0),_Orders(sp,1)]; ar=np.arange(D)
    cur=0; front=0
    while cur<=NB:
        if not Q[cur]: cur+=1; continue
        if edges[min(cur,NB)]*tol>=best: break
        w=np.concatenate([a[0] for a in Q[cur]]);x=np.concatenate([a[1] for a in Q[cur]]);y=np.concatenate([a[2] for a in Q[cur]]); Q[cur]=[]
        if len(y)>batch:
            o=np.argpartition(y,batch); Q[cur].append((w[o[batch:]],x[o[batch:]],y[o[batch:]])); o=o[:batch]; w,x,y=w[o],x[o],y[o]
        k=y*tol<best; w,x,y=w[k],x[k],y[k]
        if not len(y): continue
        iters+=1
        out=np.empty((2*len(y),4,D),np.int16); leaf=np.zeros(len(y),bool)
        t=time.process_time(); n=split(x,V1,V0,R,out,leaf); tsplit+=time.process_time()-t
        if leaf.any():
            leaves+=int(leaf.sum())
            te=time.process_time()
            o=np.argsort(y[leaf]); lw=w[leaf][o]; lx=x[leaf][o]; ly=y[leaf][o]
            j=0; es=8
            while j<len(lw) and ly[j]*tol<best:
                q=slice(j,min(j+es,len(lw))); j=q.stop; es=min(es*2,512)
                a1=V1[ar,lx[q,0]].astype(int); a0=np.minimum(V0[ar,lx[q,2]],a1).astype(int)
                m=MappingBatch(np.tile(np.arange(6,dtype=np.int8),(len(a1),2,1)),s.parallel[lw[q]].astype(np.int8),np.stack([a1,a0],1).astype(np.int32),s.cluster_size[lw[q]].astype(np.int32))
                acts=sp.encode(m)
                masks=_iterating(np.array(ext,np.int64),m.tiles,m.parallel,m.cluster_size,s.num_pes[lw[q]].astype(np.int32),True)
                cand=[]
                for r in range(len(a1)):
                    Aa=OR[0].different(int(masks[r,0])); B=OR[1].different(int(masks[r,1]))
                    ia,ib=np.repeat(np.arange(len(Aa)),len(B)),np.tile(np.arange(len(B)),len(Aa))
                    z=np.repeat(acts[r:r+1],len(ia),0); z[:,OR[0].columns]=Aa[ia]; z[:,OR[1].columns]=B[ib]; cand.append(z)
                z=np.concatenate(cand); orders+=len(z)
                v=p.look(z).values.min()
                if v<best: best=v
            teval+=time.process_time()-te
        if n:
            x=out[:n]; w=np.repeat(w[~leaf],2); y=np.repeat(y[~leaf],2)
            t=time.process_time(); nb=b.bounds(w,x); tb+=time.process_time()-t
            nb=np.maximum(nb,y); nodes+=n
            push(w,x,nb); 
            cur=min(cur,int(np.clip(np.searchsorted(edges,nb.min(),side="right")-1,0,NB)))
        if nodes>limit: break
    lb=min([best]+[z[2].min() for q in Q for z in q])
    print(f"{layer} {acc} {obj} {'PROVEN' if lb*tol>=best else 'gap %.4f'%(1-lb/best)} start {start/best:.4f} opt {best:.6e} root {root/best:.3f} | allocs {A} nodes {nodes} leaves {leaves} orders {orders} iters {iters} | bounds {tb:.2f} split {tsplit:.2f} eval {teval:.2f} total {time.process_time()-T0:.2f}",flush=True)
    return best
CASES=[("mobilenetv2.2","edp"),("vgg16.4","edp"),("vgg16.8","edp"),("mobilenetv2.32","edp"),("bert_base.1","edp"),("mobilenetv2.2","latency"),("bert_base.1","energy")]
if __name__=="__main__":
    solve("mlp.2","edge")
    for l,o in CASES: solve(l,"edge",o)
