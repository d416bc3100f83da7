"""The problem: mapping spaces, objectives, sample counting, environments.

Importing this package registers the environments with Gymnasium; ``maestro_env:MaestroEnv-v0``
makes one without the import.

Everything that other packages use is a name of this package; `__init__.pyi` says in which module it
lives, and that module is imported when the name is first used.
"""

from marl_common import attach, check_packages

check_packages(__name__)
__getattr__, __dir__, __all__ = attach(__name__, __file__)

from maestro_env.registration import register  # noqa: E402 - the surface first

register()
