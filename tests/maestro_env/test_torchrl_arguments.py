"""An unknown argument is a TypeError that names it, as libraries that try arguments expect."""

import gymnasium
import pytest

import maestro_env


def test_an_unknown_argument_is_a_type_error_too():
    said = "unexpected keyword argument 'frameskip'"
    with pytest.raises(TypeError, match=said):
        gymnasium.make("MaestroEnv-v0", frameskip=1)
    with pytest.raises(maestro_env.EnvError, match=said):
        gymnasium.make_vec(
            "MaestroEnv-v0", num_envs=2, vectorization_mode="vector_entry_point", frameskip=1
        )
