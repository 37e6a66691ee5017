"""Average gradients by a schedule of Topoloom: a communication hook of DistributedDataParallel.

Run one process for each host of the topology:

    torchrun --nproc-per-node 4 examples/gradients.py
"""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import topoloom


def main(steps: int = 3) -> float:
    """Train a small model for some steps; return its last loss."""
    torch.manual_seed(dist.get_rank())
    model = DistributedDataParallel(torch.nn.Linear(64, 8))

    runner = topoloom.Runner(topoloom.schedule("Torus(2, 2)", "allreduce"))
    model.register_comm_hook(runner, topoloom.Runner.hook)

    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = torch.tensor(0.0)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(torch.randn(16, 64)).square().mean()
        loss.backward()
        optimizer.step()
    return float(loss.detach())


if __name__ == "__main__":
    dist.init_process_group("gloo")
    print(f"rank {dist.get_rank()}: last loss {main():.4f}")
    dist.destroy_process_group()
