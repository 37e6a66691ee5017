"""Best rates of allgather and allreduce, with proofs."""
