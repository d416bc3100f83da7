"""Growth and drop rules by name: those of :mod:`sparse_training`, and any other."""

from __future__ import annotations

from mast.parts import Registry
from sparse_training import DROP_RULES, GROWTH_RULES, DropRule, GrowthRule

GROWTHS: Registry[GrowthRule] = Registry("growth", "", ("scores", "random_share", "flops"))
DROPS: Registry[DropRule] = Registry("drop_rule", "", ("scores", "by_gradient", "flops"))
for _name, _growth in GROWTH_RULES.items():
    GROWTHS.add(_name)(_growth)
for _name, _drop in DROP_RULES.items():
    DROPS.add(_name)(_drop)
