! Calls from a procedure of a module, and from one of its own.
module solver
contains
   subroutine sweep(x)
      use mpi
      double precision :: x, y
      integer :: error
      call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error) ! in solver::sweep
      x = y
   end subroutine
end module

subroutine other(x)
   use mpi
   double precision :: x
   integer :: error
   call MPI_Bcast(x, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error) ! in other
   call MPI_Bcast(x, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
end subroutine

program main
   use mpi
   use solver
   integer :: error, i
   double precision :: x
   call MPI_Init(error)
   x = 1
   do i = 1, 10
      call sweep(x)
      call other(x)
   end do
   call MPI_Finalize(error)
end program
