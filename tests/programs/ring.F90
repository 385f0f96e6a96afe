! A ring, as in ring.c, in the binding that BINDING names: 1 mpif.h, 2 use mpi, 3 use mpi_f08.
program ring
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
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: statuses(2)
#else
  integer :: requests(2), statuses(MPI_STATUS_SIZE, 2)
#endif
  integer :: rank, size, next, previous, round, ierror
  double precision :: out(100), in(100), sum

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  next = mod(rank + 1, size)
  previous = mod(rank + size - 1, size)
  do round = 1, 3
    out = rank + round
    call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, previous, round, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isend(out, 100, MPI_DOUBLE_PRECISION, next, round, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, statuses, ierror)
    call MPI_Allreduce(in, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    call MPI_Bcast(sum, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) call MPI_Send(out, 10, MPI_DOUBLE_PRECISION, 1, 50, MPI_COMM_WORLD, ierror)
    if (rank == 1) call MPI_Recv(in, 10, MPI_DOUBLE_PRECISION, 0, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  if (rank == 0) print '(a,i0,a)', 'done on ', size, ' ranks'
  call MPI_Finalize(ierror)
end program ring
