"""Twenty lines that a user writes; `mypy --strict` and a test take them as they are."""

import layers
import marl_mapper
from cost_models import Accelerator

chip = Accelerator(64, l1_bytes=512, l2_bytes=65536, noc_bw=32, offchip_bw=16)
mapped = marl_mapper.map(layers.parse("mobilenetv2.2"), chip, "edp", timeout=5.0)
print(mapped.cost.latency_cycles, mapped.gap, mapped.nest)
for loop in mapped.loops:
    print(loop.level, loop.dim, loop.iterations, "units" if loop.spatial else "times")
answers = marl_mapper.map_many(["mobilenetv2.2", "mlp.2"], ["edge", chip], store="answers.db")
for answer in answers:
    if isinstance(answer, marl_mapper.InfeasibleError):
        print(answer.layer, answer.limit, answer.levers)
    else:
        print(answer.layer.name, answer.value, answer.cost.energy_nj)
model = marl_mapper.map(layers.network("mlp"))
print(model.latency_cycles, sum(1 for shape in model))
again = marl_mapper.Mapped.from_dict(mapped.to_dict())
assert again.value == mapped.value
marl_mapper.validate(again)
print(marl_mapper.export(mapped, "maestro"))
