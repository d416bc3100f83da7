"""The MARL mapper: decentralised agents that learn to map a layer."""
