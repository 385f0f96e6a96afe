"""A ring, as in ring.c: the same calls through mpi4py."""

from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
following, previous = (rank + 1) % size, (rank + size - 1) % size
into, total = array("d", [0.0] * 100), array("d", [0.0])
for turn in range(1, 4):
    out = array("d", [rank + turn] * 100)
    requests = [
        world.Irecv([into, 100, MPI.DOUBLE], previous, turn),
        world.Isend([out, 100, MPI.DOUBLE], following, turn),
    ]
    MPI.Request.Waitall(requests)
    world.Allreduce([into, 1, MPI.DOUBLE], [total, 1, MPI.DOUBLE])
    world.Bcast([total, 1, MPI.DOUBLE])
    if rank == 0:
        world.Send([out, 10, MPI.DOUBLE], 1, 50)
    if rank == 1:
        world.Recv([into, 10, MPI.DOUBLE], 0, 50)
    world.Barrier()
if rank == 0:
    print(f"done on {size} ranks")
