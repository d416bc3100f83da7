"""A network whose tensors may stay in L2 between its layers, and its proven optimum.

`rooms_of` says which tensors may stay and for how long; `ShapeFacts` what is proven of a layer
where some of its tensors stay and others take room; `schedule` chooses by dynamic programming over
the nodes what stays, at the least of what layers may cost and at what they are known to cost;
`Network` asks for proofs until both agree.
"""
