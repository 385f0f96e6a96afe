! A call of MPI from four procedures, one within the other, two of them with arrays of a size that is known only then.
subroutine innermost(x)
   use mpi
   double precision :: x, y
   integer :: error
   call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error) ! in innermost
   x = y / 2
end subroutine

subroutine growing(x, n)
   integer :: n
   double precision :: x, room(n, n)
   room = x
   call innermost(room(n, 1)) ! in growing
   x = room(n, 1)
end subroutine

subroutine section(x, n)
   integer :: n
   double precision :: x, room(32)
   room = x
   call growing(room(n + 1), n) ! in section
   x = sum(room(1:32:3))
end subroutine

subroutine outermost(x, n)
   integer :: n
   double precision :: x
   call section(x, n) ! in outermost
   x = x / 11
end subroutine

program main
   use mpi
   integer :: error, i
   double precision :: x
   call MPI_Init(error)
   x = 1
   do i = 1, 10
      call outermost(x, i)
   end do
   call MPI_Finalize(error)
end program
