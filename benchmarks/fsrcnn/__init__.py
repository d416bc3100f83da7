"""DeFiNES' case of FSRCNN."""
