! Functions with arrays of sizes known only when they run, which call each other, and the last of them `end`.
module chains
    use iso_c_binding
    implicit none
    real(8), save :: kept = 0
contains
    recursive integer(c_int) function chain(order, depth, end) result(sum) bind(c)
        integer(c_long), value :: order
        integer(c_int), value :: depth
        type(c_funptr), value :: end
        sum = 1
        if (depth <= 0) then
            call finish(end)
        else if (mod(order, 2_c_long) == 0) then
            call with_array(order / 2, depth - 1, end, 3 + mod(depth, 7))
        else
            call with_section(order / 2, depth - 1, end)
        end if
    end function

    subroutine finish(end)
        type(c_funptr), value :: end
        procedure(), pointer :: there
        call c_f_procpointer(end, there)
        call there()
        kept = kept + 1
    end subroutine

    recursive subroutine with_array(order, depth, end, n)
        integer(c_long), value :: order
        integer(c_int), value :: depth, n
        type(c_funptr), value :: end
        real(8) :: work(n, n)
        work = n
        if (chain(order, depth, end) > 0) kept = kept + work(n, 1)
    end subroutine

    recursive subroutine with_section(order, depth, end)
        integer(c_long), value :: order
        integer(c_int), value :: depth
        type(c_funptr), value :: end
        real(8) :: work(32)
        work = kept * depth
        if (chain(order, depth, end) > 0) kept = kept + sum(work(1:32:3))
    end subroutine
end module
