"""Pi by numerical integration, and some messages of objects and of buffers, through mpi4py."""

from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size

intervals = world.bcast(3000 if rank == 0 else None)
part = sum(4.0 / (1.0 + ((i + 0.5) / intervals) ** 2) for i in range(rank, intervals, size)) / intervals
total = world.allreduce(part)

# Objects go round the ring.
sent = world.isend({"from": rank, "data": list(range(rank + 1))}, dest=(rank + 1) % size, tag=11)
received = world.recv(source=(rank - 1) % size, tag=11)
sent.wait()

# Buffers.
row, column = array("d", [float(rank * size + i) for i in range(size)]), array("d", [0.0] * size)
world.Alltoall([row, MPI.DOUBLE], [column, MPI.DOUBLE])
lengths = [i + 1 for i in range(size)]
all_parts = array("i", [0] * sum(lengths))
starts = [sum(lengths[:i]) for i in range(size)]
world.Gatherv([array("i", [rank] * (rank + 1)), MPI.INT], [all_parts, lengths, starts, MPI.INT], root=0)

parity = world.Split(rank % 2, rank)
ranks = parity.allgather(rank)
parity.Free()

print_of = [f"{rank}: pi {total:.6f}, {received}, {list(column)}, {ranks}"]
printed = world.gather(print_of)
if rank == 0:
    for lines in printed:
        print(*lines)
    print(list(all_parts))
