! A tour through the chapters of MPI, as in tour.c, in the binding that BINDING names: 1 mpif.h, 2 use mpi, 3 use mpi_f08.
program tour
#if BINDING == 1
  implicit none
  include 'mpif.h'
#elif BINDING == 2
  use mpi
  implicit none
#else
  use mpi_f08
  implicit none
#endif
#if BINDING == 3
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif
  HANDLE(MPI_Request), save :: requests(2), request
  HANDLE(MPI_Comm) :: world, half, ring
  HANDLE(MPI_Datatype) :: pair
  HANDLE(MPI_Win) :: win
  HANDLE(MPI_File) :: file
  integer, save, asynchronous :: out(16), in(16), window(4)
  integer :: counts(4), places(4), rank, size, next, previous, ierror
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place
  integer(kind=MPI_OFFSET_KIND) :: offset

  call MPI_Init(ierror)
  world = MPI_COMM_WORLD
  call MPI_Comm_rank(world, rank, ierror)
  call MPI_Comm_size(world, size, ierror)
  next = mod(rank + 1, size)
  previous = mod(rank + size - 1, size)
  counts = [1, 2, 3, 4]
  places = [0, 1, 3, 6]
  out = rank
  in = rank
  window = 0

  call MPI_Sendrecv(out, 5, MPI_INTEGER, next, 1, in, 8, MPI_INTEGER, previous, 1, world, MPI_STATUS_IGNORE, ierror)
  call check(in(5) == previous)
  if (rank == 0) call MPI_Ssend(out, 3, MPI_INTEGER, 1, 2, world, ierror)
  if (rank == 1) then
    call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE, ierror)
    call MPI_Recv(in, 6, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE, ierror)
  end if
  call MPI_Barrier(world, ierror)

  call MPI_Send_init(out, 7, MPI_INTEGER, next, 3, world, requests(1), ierror)
  call MPI_Recv_init(in, 7, MPI_INTEGER, previous, 3, world, requests(2), ierror)
  call MPI_Startall(2, requests, ierror)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)

  call MPI_Comm_split(world, mod(rank, 2), -rank, half, ierror)
  call MPI_Reduce(out, in, 2, MPI_INTEGER, MPI_MAX, 0, half, ierror)
  call MPI_Comm_free(half, ierror)
  call MPI_Gatherv(out, counts(rank + 1), MPI_INTEGER, in, counts, places, MPI_INTEGER, 2, world, ierror)
  call MPI_Scatter(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, 1, world, ierror)
  call check(in(2) == 1)
  call MPI_Alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, world, ierror)
  call MPI_Iallreduce(out, in, 4, MPI_INTEGER, MPI_SUM, world, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call check(in(4) == 6)
  call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_INTEGER, world, ierror)

  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, pair, ierror)
  call MPI_Type_commit(pair, ierror)
  call MPI_Bcast(in, 1, pair, 3, world, ierror)
  call MPI_Type_free(pair, ierror)

  call MPI_Cart_create(world, 1, [4], [.true.], .false., ring, ierror)
  call MPI_Neighbor_allgather(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, ring, ierror)
  call check(in(1) == previous .and. in(4) == next)
  call MPI_Comm_free(ring, ierror)

  bytes = 16
  place = 1
  call MPI_Win_create(window, bytes, 4, MPI_INFO_NULL, world, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call MPI_Put(out, 2, MPI_INTEGER, next, place, 2, MPI_INTEGER, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call check(window(3) == previous)
  call MPI_Win_free(win, ierror)

  offset = 16 * rank
  call MPI_File_open(world, 'tour.out', ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), MPI_INFO_NULL, file, ierror)
  call MPI_File_write_at(file, offset, out, 4, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
  call MPI_File_close(file, ierror)
  if (rank == 0) print '(a,i0,a)', 'done on ', size, ' ranks'
  call MPI_Finalize(ierror)

contains

  subroutine check(condition)
    logical, intent(in) :: condition
    if (.not. condition) then
      print *, 'rank', rank, 'is wrong'
      call MPI_Abort(world, 99, ierror)
    end if
  end subroutine check
end program tour
