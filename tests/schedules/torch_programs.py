"""Programs that run between the ranks of a back end of torch.distributed.

``python tests/schedules/torch_programs.py FOLDER RANKS [PROGRAM ...]`` runs the programs between
forked processes, first on gloo, then on "topoloom", and writes what each program returns at each
rank to ``FOLDER/BACKEND-RANK.pt``.
"""

import multiprocessing
import sys
import tempfile

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel

SIZES = (1, 3, 1000, 70_000)
"""Elements of a tensor."""

TYPES = (torch.int32, torch.uint8, torch.float64, torch.bfloat16)


def data(elements, dtype=torch.int32, *, seed=0):
    """Return small whole numbers, whose sums are exact in every type and order."""
    drawn = torch.Generator().manual_seed(dist.get_rank() + 100 * seed)
    return torch.randint(0, 5, (elements,), generator=drawn).to(dtype)


def reductions():
    found = []
    for dtype in TYPES:
        for elements in SIZES:
            for operation in (dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.PRODUCT):
                tensor = data(elements, dtype)
                dist.all_reduce(tensor, operation)
                found.append(tensor)
            at_one = data(elements, dtype)
            dist.reduce(at_one, 2)
            if dist.get_rank() == 2:
                found.append(at_one)
    averaged = data(12, torch.float64)
    dist.all_reduce(averaged, dist.ReduceOp.AVG)
    return [*found, averaged]


def gathers():
    ranks, found = dist.get_world_size(), []
    for elements in SIZES:
        shard = data(elements)
        parts = [torch.empty_like(shard) for _ in range(ranks)]
        dist.all_gather(parts, shard)
        root = data(elements)
        dist.broadcast(root, 1)
        found += [*parts, root]
    objects = [None] * ranks
    dist.all_gather_object(objects, {"rank": dist.get_rank()})
    return [*found, torch.tensor([one["rank"] for one in objects])]


def scatters():
    ranks, found = dist.get_world_size(), []
    for elements in SIZES:
        own = torch.empty(elements, dtype=torch.int32)
        dist.reduce_scatter(own, [data(elements, seed=seed) for seed in range(ranks)])
        taken = torch.empty(ranks * elements, dtype=torch.int32)
        dist.all_to_all_single(taken, data(ranks * elements))
        found += [own, taken]
    sizes = [dist.get_rank() + 1] * ranks
    uneven = torch.empty(sum(range(1, ranks + 1)), dtype=torch.int32)
    dist.all_to_all_single(uneven, data(sum(sizes)), [*range(1, ranks + 1)], sizes)
    return [*found, uneven]


def asynchronous_calls():
    tensors = [data(1000, seed=seed) for seed in range(20)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    futures = [work.get_future() for work in works]
    last = dist.all_reduce(data(7), async_op=True)
    torch.futures.wait_all(futures)
    last.wait()
    assert last.is_completed() and last.is_success()
    blocking = data(5)
    dist.all_reduce(blocking)
    return [*tensors, blocking]


def point_to_point():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    taken = torch.empty(9, dtype=torch.int32)
    works = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, data(9), (rank + 1) % ranks),
            dist.P2POp(dist.irecv, taken, (rank - 1) % ranks),
        ]
    )
    for work in works:
        work.wait()
    dist.barrier()
    return [taken]


def subgroups():
    mesh = init_device_mesh("cpu", (2, dist.get_world_size() // 2), mesh_dim_names=("dp", "tp"))
    tensor = data(50)
    dist.all_reduce(tensor, group=mesh.get_group("tp"))
    dist.all_reduce(tensor, group=mesh.get_group("dp"))
    return [tensor]


def model():
    torch.manual_seed(7)
    layers = torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 4)
    return torch.nn.Sequential(*layers).double()


def trained(net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for step in range(4):
        loss = net(data(8 * 16, torch.float64, seed=step).view(8, 16)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


def data_parallel():
    net = DistributedDataParallel(model(), bucket_cap_mb=0.001)
    return [*trained(net), *(each.detach() for each in net.parameters())]


def fully_sharded():
    # These imports take a second: a list of the programs does not need them.
    import torch.distributed.checkpoint as dcp
    from torch.distributed.fsdp import fully_shard

    net = model()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in net:
        fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)
    losses = trained(net)
    with tempfile.TemporaryDirectory() as own:
        folder = [own]
        dist.broadcast_object_list(folder, 0)
        dcp.save(net.state_dict(), checkpoint_id=folder[0])
        before = [each.full_tensor().detach().clone() for each in net.parameters()]
        for each in net.parameters():
            torch.nn.init.zeros_(each)
        state = net.state_dict()
        dcp.load(state, checkpoint_id=folder[0])
        net.load_state_dict(state)
        dist.barrier()
    for each, kept in zip(net.parameters(), before, strict=True):
        assert torch.equal(each.full_tensor(), kept)
    return [*losses, *before]


def distributed_tensors():
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(3)
    left = distribute_tensor(torch.randn(8, 12, dtype=torch.float64), mesh, [Shard(1)])
    right = distribute_tensor(torch.randn(12, 8, dtype=torch.float64), mesh, [Shard(0)])
    product = left @ right
    rows = product.redistribute(mesh, [Shard(0)]).redistribute(mesh, [Shard(1)])
    return [rows.redistribute(mesh, [Replicate()]).to_local()]


PROGRAMS = (
    reductions, gathers, scatters, asynchronous_calls, point_to_point, subgroups, data_parallel,
    fully_sharded, distributed_tensors,
)  # fmt: skip


def rank_main(backend, folder, ranks, rank, programs):
    """Run programs at one rank, and write what they return."""
    store = dist.FileStore(f"{folder}/{backend}.store", ranks)
    dist.init_process_group(backend, store=store, rank=rank, world_size=ranks)
    found = {program.__name__: program() for program in programs}
    runners = getattr(dist.group.WORLD, "_runners", {})
    found["scheduled"] = sorted({str(key[0]) for key, runner in runners.items() if runner})
    logged = getattr(dist.group.WORLD, "_logged", ())
    found["unscheduled"] = sorted((str(name), reason) for name, reason in logged)
    torch.save(found, f"{folder}/{backend}-{rank}.pt")
    dist.destroy_process_group()


def main(folder, ranks, *names):
    """Run the named programs, by default all, on both back ends; return the failed ranks."""
    programs = [one for one in PROGRAMS if not names or one.__name__ in names]
    # Forks share the import of PyTorch; no thread runs yet.
    fork, failed = multiprocessing.get_context("fork"), []
    for backend in ("gloo", "topoloom"):
        processes = [
            fork.Process(target=rank_main, args=(backend, folder, ranks, rank, programs))
            for rank in range(ranks)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        failed += [rank for rank, process in enumerate(processes) if process.exitcode]
    return failed


if __name__ == "__main__":
    import topoloom.torch  # noqa: F401

    sys.exit(bool(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])))
