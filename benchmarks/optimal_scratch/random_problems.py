import sys,time
import numpy as np, check_bounds as val2
from check_bounds import *
import cost_models
from cost_models import Accelerator
from layers import Layer
def rand_problem(rng):
    kind=rng.choice(["CONV","CONV","DSCONV","GEMM"])
    big=rng.random()<.3; m=40 if big else 10
    r=int(rng.integers(1,6)); s=int(rng.integers(1,6)) if rng.random()<.5 else r
    stride=int(rng.integers(1,4))
    def e(): return int(rng.integers(1,m+1)) 
    if kind=="GEMM": l=Layer.gemm("g",e(),e(),e())
    else:
        y,x=e(),e()
        l=Layer("c",kind,K=1 if kind=="DSCONV" else e(),C=e(),Y=(y-1)*stride+r,X=(x-1)*stride+s,R=r,S=s,stride=stride)
    def opt(a,b,p=.3): return None if rng.random()<p else int(rng.integers(a,b))
    acc=Accelerator(int(rng.integers(1,30)),opt(8,300),opt(60,6000),opt(1,16),opt(1,8),int(rng.choice([1,1,1,2,4])))
    space={"tiles":str(rng.choice(["balanced","divisors","any"])),"filters":str(rng.choice(["whole","whole","free"])),"parallel":"".join(d for d in "KCYXRS" if rng.random()<.7) or "K"}
    if rng.random()<.15: space["co_search"]=("num_pes",)
    if kind=="DSCONV" and space["parallel"]=="K": space["parallel"]="C"
    model=cost_models.load("exact",halo_time=str(rng.choice(["retain","slide","none"])),halo_space=str(rng.choice(["union","union","tile"])),latency=str(rng.choice(["stepwise","stepwise","bound"])),double_buffer=bool(rng.random()<.5),energy=str(rng.choice(["maestro","eyeriss"])))
    return l,acc,str(rng.choice(["edp","latency","energy","latency*edp"])),space,model
def main(seed,seconds,only=None):
    t=time.time(); n=0; bad=0; total=0
    while time.time()-t<seconds:
        rng=np.random.default_rng([seed,n]); 
        l,acc,obj,space,model=rand_problem(rng)
        if only: 
            if model.halo_time!=only: n+=1; continue
        b=check(l,acc,obj,space,model,n=600,seed=n,budget=0,verbose=False)
        if b:
            bad+=1
            k=max(val2.VB,key=lambda z:z[1]); val2.VB.clear()
            print(n,"halo",model.halo_time,space["filters"],"%s %.5f"%k[:2],obj,model,acc,l,k[2],space,flush=True)
        n+=1
    print("problems",n,"bad",bad)
if __name__=="__main__": main(int(sys.argv[1]),float(sys.argv[2]),*(sys.argv[3:]))
