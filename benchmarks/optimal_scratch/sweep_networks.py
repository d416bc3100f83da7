import sys
from solver_prototype import *
import layers
acc,obj=sys.argv[1],sys.argv[2]
nets=sys.argv[3].split(",") if len(sys.argv)>3 else ["mobilenetv2","resnet18","vgg16","alexnet","bert_base"]
seen=set()
solve("mlp.2",acc,obj)
for net in nets:
    for l in layers.network(net):
        k=l.renamed("x")
        if k in seen: continue
        seen.add(k)
        solve(l.name if False else l,acc,obj,limit=20e6)
