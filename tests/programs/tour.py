"""A tour through the chapters of MPI, as in tour.c: the same calls through mpi4py. 4 ranks."""

from array import array

import mpi4py

# Open MPI's one-sided communication over messages is not for threads.
mpi4py.rc.threads = False

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
following, previous = (rank + 1) % size, (rank + size - 1) % size
INT, counts, places = MPI.INT, [1, 2, 3, 4], [0, 1, 3, 6]
out, into, window = array("i", [rank] * 16), array("i", [rank] * 16), array("i", [0] * 4)


def check(condition):
    if not condition:
        world.Abort(99)


world.Sendrecv([out, 5, INT], following, 1, [into, 8, INT], previous, 1)
check(into[4] == previous)
if rank == 0:
    world.Ssend([out, 3, INT], 1, 2)
if rank == 1:
    world.Probe(MPI.ANY_SOURCE, MPI.ANY_TAG)
    world.Recv([into, 6, INT], MPI.ANY_SOURCE, MPI.ANY_TAG)
world.Barrier()

requests = [world.Send_init([out, 7, INT], following, 3), world.Recv_init([into, 7, INT], previous, 3)]
MPI.Prequest.Startall(requests)
MPI.Request.Waitall(requests)
for request in requests:
    request.Free()

half = world.Split(rank % 2, -rank)
half.Reduce([out, 2, INT], [into, 2, INT], MPI.MAX, 0)
half.Free()
world.Gatherv([out, counts[rank], INT], [into, counts, places, INT], 2)
world.Scatter([out, 2, INT], [into, 2, INT], 1)
check(into[1] == 1)
world.Alltoall([out, 1, INT], [into, 1, INT])
request = world.Iallreduce([out, 4, INT], [into, 4, INT], MPI.SUM)
request.Wait()
check(into[3] == 6)
world.Allgatherv(MPI.IN_PLACE, [into, counts, places, INT])

pair = INT.Create_vector(2, 1, 2)
pair.Commit()
world.Bcast([into, 1, pair], 3)
pair.Free()

ring = world.Create_cart([4], [True], False)
ring.Neighbor_allgather([out, 3, INT], [into, 3, INT])
check(into[0] == previous and into[3] == following)
ring.Free()

win = MPI.Win.Create(window, 4, MPI.INFO_NULL, world)
win.Fence()
win.Put([out, 2, INT], following, [1, 2, INT])
win.Fence()
check(window[2] == previous)
win.Free()

file = MPI.File.Open(world, "tour.out", MPI.MODE_CREATE | MPI.MODE_WRONLY)
file.Write_at(16 * rank, [out, 4, INT])
file.Close()
if rank == 0:
    print(f"done on {size} ranks")
