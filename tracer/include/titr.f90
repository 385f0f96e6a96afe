! Marks the regions of a Fortran program for titr's tracer, as titr.h does for C. Compile this file with the program:
!
!     use titr
!     call titr_region_begin("foo")
!     call foo()
!     call titr_region_end("foo")
module titr
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
    implicit none
    private
    public :: titr_region_begin, titr_region_end

    ! The level of MPI_Pcontrol that says that a name follows: the letters "titr".
    integer(c_int), parameter :: region = int(z'74697472', c_int)

    interface
        subroutine pcontrol(level, name) bind(C, name="MPI_Pcontrol")
            import :: c_char, c_int
            integer(c_int), value :: level
            character(kind=c_char), intent(in) :: name(*)
        end subroutine
    end interface

contains

    ! A region of this name begins in this thread. Regions may lie within each other.
    subroutine titr_region_begin(name)
        character(len=*), intent(in) :: name
        call pcontrol(region, trim(name)//c_null_char)
    end subroutine

    ! The region of this name that began last in this thread ends.
    subroutine titr_region_end(name)
        character(len=*), intent(in) :: name
        call pcontrol(-region, trim(name)//c_null_char)
    end subroutine
end module
