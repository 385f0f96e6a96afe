! Regions that a Fortran program marks, as regions.c. Any number of ranks.
#include "../../tracer/include/titr.f90"

program regions
    use mpi
    use titr
    implicit none
    integer :: error
    call MPI_Init(error)
    call titr_region_begin("outer")
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call titr_region_begin("a name of several words  ")
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call titr_region_end("a name of several words")
    call titr_region_end("outer")
    call MPI_Pcontrol(3)
    call MPI_Pcontrol(-3)
    call MPI_Pcontrol(1)
    call MPI_Pcontrol(0)
    call MPI_Finalize(error)
end program
