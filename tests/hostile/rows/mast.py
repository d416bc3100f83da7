"""Command lines of mast."""

from tests.hostile.rows import Row, table

NO_STORE = "there is no such file; give --store"
UNEVEN = {
    "uneven.py": """
from mpe_marl import make_spec
from mpe_marl.worlds.parallel import ParticleWorld


class Uneven(ParticleWorld):
    def step(self, actions):
        obs, rewards, *rest = super().step(actions)
        return obs, {name: float(i) for i, name in enumerate(rewards)}, *rest


def make():
    return Uneven(make_spec("simple_spread", 3))
"""
}
"""A world whose agents have rewards of their own."""

COMMANDS = {
    "mast": {
        "trian": "Did you mean 'train'",
        "compare --arms dense,nope": "arm 'nope' is not known",
        "flops -t spread-1001": "is not known; expected spread-N",
        "flops --set lr=0": "lr=0.*: expected a number above 0",
        "masks ''": "got an empty word",
        "tickets 1": NO_STORE,
        "export 1": NO_STORE,
        "play team.safetensors": "not found; expected a file that `mast export` wrote",
        "sweep nosuch.yaml": "nosuch.yaml",
        "config --algo qmx": "mean 'qmix'|qmix",
        "plot .": "is a folder, expected a file",
    },
    "mast train": {
        "-t spread-0": "expected 1 to 100 agents",
        "-t os:system": "makes no world: it is built in, or needs arguments",
        "--hidden 65536 -t tag-3": "hidden=65536: training takes about .* GB",
        "-t tag-3 --set target_every=201": "multiple of update_every=2, such as 200 or 202",
        "-t lbf-nope": "expected lbf-SxS-Pp-Ff",
        "-t rware-tiny": "expected rware-SIZE-Nag",
        "-t pursuit-0": "expected pursuit-N",
        "-t smax-nope": "expected one of smax-3m",
        "--sparsity 1": "sparsity=1.0: expected a number from 0 below 1",
        "--sparsity 0": "sparsity=0 leaves nothing out of arm 'mast'",
        "--sparsity 0.9999 -t tag-3": "one of 3 layers empty; expected at most",
        "--arm block4 --sparsity 0.97 --hidden 6": "nearest sparsity|layers empty",
        "--arm dense --set growth=set": "arm 'dense' is dense and grows nothing",
        "--set left_dense=agent": "Did you mean 'agents'",
        "--algo vdn --set left_dense=agents": "leaves no layer sparse",
        "--backend compiled --device cuda": "backend 'compiled' runs on the CPU|not there",
        "--set agent_sparsities=.9,.8": "add --own",
        "--without everything": "expected one of sm, hybrid, dual",
        "--without sm --arm dense": "has no part 'sm'",
        "--agents cnn": "expected one of gru, mlp, module:Class",
        "--budget weights": "expected one of network, layer, all",
        "--device cudda": "device 'cudda' cannot be used",
        "--team most": "expected one of mean, sum",
        "--agent-sparsities 2": "agent_sparsities=2.0: expected a number from 0 below 1",
        "--set lr": "expected NAME=VALUE",
        "--set batch=0": "batch=0: expected a whole number",
        "--set lr=1e-3 --set lr=2e-3": "lr is given twice",
        "--store nosuch://x/y": "expected a file path or a database URL",
        "--log board:x": "expected tensorboard:FOLDER",
        "--out /proc/x/y.json": "cannot write to /proc/x",
    },
}
ROWS = [
    *table(COMMANDS),
    Row("mast play t.safetensors", "is no trained team", {"t.safetensors": b"\xff" * 64}),
    *(
        Row(f"mast {words} f.yaml", says, files={"f.yaml": content})
        for words, content, says in [
            ("train --config", "[1, 2]", "expected settings by name"),
            ("train --config", "gamma: fast", "f.yaml: gamma: got 'fast'"),
            ("train --config", "gama: 0.9", "setting 'gama' is not known.*Did you mean 'gamma'"),
            ("sweep", "[1, 2]", "expected a mapping with some of"),
            ("sweep", "gama: 0.9", "entry 'gama' is not known"),
            ("sweep", "vary: {gamma: 0.9}", "vary: gamma: expected a list"),
            ("sweep", "base: 3", "base: expected settings by name"),
            ("sweep", "runs: 3", "runs: expected a list of blocks"),
            ("sweep", "cpu_s: long", "cpu_s=long: expected a number"),
        ]
    ),
    Row("mast train -t uneven:make", "differ between agents; expected one reward", UNEVEN),
]
