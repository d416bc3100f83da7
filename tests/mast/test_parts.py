"""Parts by name: those of the package, and files of one's own; what the paper has besides."""

import dataclasses
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

torch = pytest.importorskip("torch")

from benchmarks.frame import write
from benchmarks.mast import pairs
from mast import MastConfig, MastError, MastTrainer
from mast.buffers.two import FixedShares
from mast.costs import check_run
from mast.flops import count_updates, layer_costs, outside_layers
from mast.operators import NearGreedy, soft_mellowmax
from mast.registries import REGISTRIES
from mast.settings import make_config
from mast.tasks import TeamWorlds, find_task
from mast.widths import NetworkWidths
from mpe_marl import Ring
from tests.mast.small import SMALL, trained
from tests.programs import answer, give, in_process

PARTS = Path(__file__).parents[2] / "examples" / "mast_parts"


def loss_of(config: MastConfig) -> float:
    return float(trained(config).progress.latest["loss"])


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with files of parts."""
    monkeypatch.chdir(PARTS)


@pytest.mark.usefixtures("own")
def test_an_operator_of_ones_own_is_learnt_with() -> None:
    config = make_config({"beta": "2", "task": "tag-3", "operator": "softmax:Softmax", "batch": 4})
    assert config.own == (("beta", 2.0),)
    assert MastConfig.of(config.plain()) == config
    softmax = REGISTRIES["operator"].make("softmax:Softmax", config)
    values, free = torch.tensor([[1.0], [2.0], [9.0]]), torch.tensor([[True], [True], [False]])
    weights = np.exp([2.0, 4.0])
    expected = float((weights * [1.0, 2.0]).sum() / weights.sum())
    assert softmax(values, values, free).item() == pytest.approx(expected)
    assert softmax(values, values, None).item() > expected
    changed = replace(SMALL, operator="softmax:Softmax", own=(("beta", 2.0),))
    assert loss_of(changed) != loss_of(SMALL)


@pytest.mark.usefixtures("own")
def test_a_mixer_of_ones_own_is_learnt_with_and_its_layers_are_counted() -> None:
    config = replace(SMALL, mixer="qplex:Qplex", backend="compiled")
    trainer = trained(config)
    shape, networks = trainer.worlds.shape, trainer.learner.networks
    costs = layer_costs(config, shape, NetworkWidths.of(config))
    kept = {name: cost.kept for name, cost in costs.items()}
    assert kept == trainer.learner.sparsifier.counts()
    assert costs["mixer.hidden"].data
    assert not costs["mixer.scales"].data
    assert outside_layers(config, shape, NetworkWidths.of(config)) > 0
    # its value is that of the best actions where they were taken, and lower else
    mixer, rows = networks["mixer"], 7
    from mast.mixers import JointChoice

    torch.manual_seed(0)
    best, states = torch.randn(3, rows), torch.randn(shape.state_dim, rows)
    done = torch.nn.functional.one_hot(torch.zeros(3, rows).long(), shape.n_actions)
    choices = JointChoice(best, done.transpose(1, 2).float())
    with torch.no_grad():
        top = mixer(best, states)
        torch.testing.assert_close(mixer(best, states, choices), top)
        assert (mixer(best - 1, states, choices) < top).all()


@pytest.mark.usefixtures("own")
def test_a_drop_rule_of_ones_own_moves_other_weights() -> None:
    plain = replace(SMALL, arm="set", dtype="float64")
    mest = replace(plain, drop_rule="mest:Mest", own=(("pull", 50.0),))
    one, other = trained(plain), trained(mest)
    assert other.learner.sparsifier.by_gradient
    assert not one.learner.sparsifier.by_gradient
    pairs = zip(*(t.learner.sparsifier.masks().values() for t in (one, other)), strict=True)
    assert any((a != b).any() for a, b in pairs)
    shape = one.worlds.shape
    cost = next(iter(layer_costs(mest, shape, NetworkWidths.of(mest)).values()))
    assert cost.topology(mest).theoretical.total > 0
    assert cost.topology(plain).theoretical.total == 0


@pytest.mark.parametrize("what", sorted(REGISTRIES))
def test_an_unknown_part_is_told_with_the_nearest(what: str) -> None:
    registry = REGISTRIES[what]
    for name in registry.names():
        kind = registry.find(name)
        assert dataclasses.is_dataclass(kind)
        assert callable(kind.flops)
    near = registry.names()[-1]
    with pytest.raises(MastError, match=f"{what} '{near}x' is not known.*Did you mean '{near}'"):
        registry.find(f"{near}x")
    with pytest.raises(MastError, match="cannot be imported"):
        registry.find("nowhere:Nothing")
    with pytest.raises(MastError, match=r"derives from mast\.LearnerPart"):
        registry.find("pathlib:Path")


def test_two_buffers_give_each_batch_its_share_and_no_episode_twice() -> None:
    ring, rng = Ring(50), np.random.default_rng(0)
    for _ in range(70):
        ring.advance()
    law = FixedShares(10, 0.25)
    newest = set(ring.physical(np.arange(40, 50)).tolist())
    drawn = np.zeros(ring.rows)
    for _ in range(2000):
        rows = law.draw(ring, 8, rng)
        assert set(rows[:2].tolist()) <= newest
        assert len(set(rows[:2].tolist())) == 2
        assert len(set(rows[2:].tolist())) == 6
        np.add.at(drawn, rows, 1 / 16_000)
    expected = np.full(50, 0.75 / 50)
    expected[list(newest)] += 0.25 / 10
    np.testing.assert_allclose(drawn, expected, atol=0.004)


def test_faithful_is_what_the_paper_has() -> None:
    config = make_config({"task": "tag-3", "batch": 4}, faithful=True)
    assert (config.buffer, config.counted, config.optimizer_state) == ("two", "updates", "keep")
    assert make_config({"buffer": "dual"}, faithful=True).buffer == "dual"
    plain = make_config({"arm": "dense"}, faithful=True)
    assert (plain.buffer, plain.operator) == (None, None)
    small = dict.fromkeys(("target_every", "topology_every"), 5)
    trainer = trained(replace(config, **small, hidden=8, sparsity=0.7, worlds=4))
    # updates 5, 10, ... until the end of the topology: all of them, none is lost to a phase
    updates, moves = count_updates(trainer.config, trainer.worlds.shape, trainer.total)
    assert trainer.progress.updates == updates
    assert trainer.learner.sparsifier.steps == moves > 1


def test_adam_makes_no_step_at_topology_steps_if_asked() -> None:
    config = replace(SMALL, step_at_topology=False, optimizer_state="keep")
    from mast.scaling import RewardScale

    trainer = trained(config)
    learner, store = trainer.learner, trainer.store
    before = [p.detach().clone() for p in learner.networks.parameters()]
    learner.update(store.sample(), RewardScale(), 900, topology=True)
    assert all((a == b).all() for a, b in zip(before, learner.networks.parameters(), strict=True))
    learner.update(store.sample(), RewardScale(), 900)
    assert any((a != b).any() for a, b in zip(before, learner.networks.parameters(), strict=True))


def test_res_takes_soft_mellowmax_over_its_joint_actions() -> None:
    torch.manual_seed(0)
    worth, known = torch.randn(12, 5), torch.randn(12, 5)
    free = torch.rand(12, 5) < 0.7
    free[0] = True
    operator = REGISTRIES["operator"].make("soft-mellowmax", SMALL)
    found = NearGreedy(worth, known, free).by(operator)
    torch.testing.assert_close(found, soft_mellowmax(worth, free, 1.0, 10.0))
    plain = replace(SMALL, algorithm="res")
    assert loss_of(replace(plain, operator="soft-mellowmax")) != loss_of(plain)


def test_cw_qmix_weighs_by_its_target_networks() -> None:
    plain = replace(SMALL, algorithm="cw-qmix", dtype="float64")
    assert loss_of(replace(plain, cw_values="target")) != loss_of(plain)


def test_agents_have_sparsities_of_their_own() -> None:
    config = replace(
        SMALL, task="spread-3", share=False, agent_sparsities=(0.5, 0.7, 0.9), backend="compiled"
    )
    learner = trained(config).learner
    layers, counts = learner.layers, learner.sparsifier.counts()
    for agent, share in enumerate(config.agent_sparsities):
        names = [name for name in layers if name.startswith(f"agents.nets.{agent}.")]
        whole = sum(layers[n].in_features * layers[n].out_features for n in names)
        assert sum(counts[n] for n in names) / whole == pytest.approx(1 - share, abs=0.01)
    costs = layer_costs(config, learner.shape, NetworkWidths.of(config))
    assert {name: cost.kept for name, cost in costs.items()} == counts
    with pytest.raises(MastError, match="expected 3, one for each agent"):
        check_run(replace(config, agent_sparsities=(0.5, 0.7)))


def test_settings_come_back_from_yaml(tmp_path: Path) -> None:
    path = tmp_path / "resolved.yaml"
    words = "mast config --faithful --arm rigl+ --own --set gamma=.9"
    _, text, told = in_process(words.split())
    assert "--set gamma=VALUE leaves with the next version; write --gamma instead" in told
    path.write_text(text)
    config = make_config(yaml.safe_load(text))
    assert (config.arm, config.gamma, config.share) == ("rigl+", 0.9, False)
    words = f"mast config --config {path} --arm mast --gamma .8"
    code, again, told = in_process(words.split())
    assert (code, told) == (0, "")
    assert make_config(yaml.safe_load(again)) == replace(config, arm="mast", gamma=0.8)


PLAN = """
steps: 400
episodes: 4
seeds: [0, 1]
cpu_s: 1800
base: {task: tag-3, sparsity: 0.8, backend: compiled, batch: 4}
runs:
  - vary: {arm: [dense, mast], gamma: [0.99, 0.9]}
  - {vary: {arm: [dense]}, seeds: [1, 2]}
"""


def test_a_sweep_does_each_run_once_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("plan.yaml").write_text(PLAN)

    def sweep(more: str) -> tuple[list[str], str]:
        code, out, told = in_process(f"mast sweep plan.yaml {more}".split())
        assert not code, told
        return out.splitlines(), told

    lines, told = sweep("--list")
    assert len(lines) == len(set(lines)) == 9
    assert "9 runs to do, about 4.5 h of processor time; 0 finished" in told
    assert not list(tmp_path.glob("*.db"))
    in_process(lines[-1].split())
    assert len(sweep("--list")[0]) == 8, "a listed command is the run itself"
    rows, _ = sweep("--csv table.csv")
    assert "gamma 0.9" in "\n".join(rows)
    table = Path("table.csv").read_text().splitlines()
    assert len(table) == 5
    dense = table[1].split(",")
    returns = list(map(float, dense[-1].split()))
    assert len(returns) == 3
    assert np.mean(returns) == pytest.approx(float(dense[5]), rel=1e-4)
    assert sweep("--list")[0] == []
    sweep("--collect --csv again.csv")
    assert Path("again.csv").read_text().splitlines() == table


def test_sparse_teams_are_paired_with_dense_ones_by_seed(tmp_path):
    columns = ("task", "arm", "settings", "cpu_s", "returns")
    rows = [
        ("tag-3", "mast 0.9", "", "2", "5 7 9"),
        ("tag-3", "mast 0.9", "hidden 128", "4", "1 1 1"),
        ("tag-3", "tiny+ 0.9", "", "3", "4 6 8"),
        ("tag-3", "dense+", "hidden 128", "8", "9 0 8"),
        ("spread-6", "dense+", "", "8", "9 0 8"),
    ]
    write(tmp_path / "sweep.csv", columns, [dict(zip(columns, row, strict=True)) for row in rows])
    found = list(pairs.rows(Namespace(sweep=tmp_path / "sweep.csv")))
    assert [(row["settings"], row["rival"]) for row in found] == [
        ("", "tiny+ 0.9"), ("", "dense+"), ("hidden 128", "dense+"),
    ]  # fmt: skip
    assert (found[0]["difference"], found[0]["low"], found[0]["claim"]) == (1.0, 1.0, ">")
    assert (found[0]["rival's time"], found[1]["claim"]) == (1.5, "")
    assert found[1]["low"] < found[1]["difference"] < found[1]["high"]


def test_the_best_team_and_all_others_are_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = "-t tag-3 --steps 1200 --episodes 16 --set batch=4 --set gamma=.9 --keep-all"
    (run,) = answer("mast", "train", *words.split())
    assert run["name"] == "tag-3 qmix mast 0.9, gamma 0.9, batch 4 seed 0"
    best = run["steps"][int(np.argmax(run["returns"]))]
    for which in ("best", str(best)):
        give("mast", "export", 1, "--which", which, "-o", f"{which}.safetensors")
    assert Path("best.safetensors").read_bytes() == Path(f"{best}.safetensors").read_bytes()
    (played,) = answer("mast", "play", "best.safetensors", "--episodes", 16)
    assert played["return"] == pytest.approx(max(run["returns"]))
    said = give("mast", "export", 1, "--which", 7, code=2)
    assert "expected one of last, best, 120" in said


def test_a_team_of_other_shapes_is_refused(tmp_path):
    from mast.exporting import SparsePolicy

    policy = SparsePolicy.of(MastTrainer(SMALL, 100, 0).learner)
    path = tmp_path / "foreign.safetensors"
    replace(policy, config=replace(SMALL, task="spread-3")).save(path)
    assert "expected one for TaskShape(n_agents=3" in give("mast", "play", path, code=2)


@pytest.mark.parametrize(
    ("name", "package", "shape", "length"),
    [
        ("rware-tiny-2ag", "rware", (2, 71, 142, 5), 500),
        ("lbf-8x8-2p-2f-coop", "lbforaging", (2, 12, 24, 6), 50),
        ("pursuit-3", "pygame", (3, 147, 768, 5), 500),
    ],
)
def test_a_team_plays_worlds_of_other_suites(name, package, shape, length):
    pytest.importorskip(package)
    worlds = TeamWorlds(find_task(name), 2)
    assert worlds.shape[:5] == (*shape, length)
    before = worlds.look().obs.copy()
    step = worlds.step(np.ones((2, shape[0]), np.int64))
    assert np.isfinite(step.rewards).all()
    assert not step.terminated.any()
    np.testing.assert_array_equal(TeamWorlds(find_task(name), 2).look().obs, before)
