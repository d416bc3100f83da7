"""Multi-agent RL training systems on particle worlds."""
