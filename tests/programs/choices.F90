! Which of several live requests a call completes, as in choices.c, in the binding that BINDING names: 1 mpif.h,
! 2 use mpi, 3 use mpi_f08. What completed is told by the handle that is gone, as MPICH 4.0.2 counts indices from 0 in
! mpi_f08 (pmodels/mpich issue 6270).
program choices
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
  type(MPI_Request), save :: requests(4)
  type(MPI_Status) :: status, statuses(4)
#define SOURCE_OF(one) one%MPI_SOURCE
#define ELEMENT(all, i) all(i)%MPI_SOURCE
#else
  integer, save :: requests(4)
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4)
#define SOURCE_OF(one) one(MPI_SOURCE)
#define ELEMENT(all, i) all(MPI_SOURCE, i)
#endif
  integer, save, asynchronous :: buffer(4)
  integer :: note, rank, size, found, number, indices(4), ierror
  logical :: flag

  note = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)

  call post()
  call release(2)
  if (rank == 1) then
    call MPI_Waitany(4, requests, found, status, ierror)
    call check(requests(3) == MPI_REQUEST_NULL .and. SOURCE_OF(status) == 0)
  end if
  call release(1)
  if (rank == 1) then
    call MPI_Waitsome(4, requests, number, indices, statuses, ierror)
    call check(number == 1 .and. requests(2) == MPI_REQUEST_NULL .and. ELEMENT(statuses, 1) == 2)
  end if
  call release(3)
  if (rank == 1) then
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(4, requests, found, flag, MPI_STATUS_IGNORE, ierror)
    end do
    call check(requests(4) == MPI_REQUEST_NULL)
  end if
  call release(0)
  if (rank == 1) then
    number = 0
    do while (number == 0)
      call MPI_Testsome(4, requests, number, indices, MPI_STATUSES_IGNORE, ierror)
    end do
    call check(number == 1 .and. requests(1) == MPI_REQUEST_NULL)
  end if

  call post()
  call deliver(1, 2)
  if (rank == 1) then
    call MPI_Waitsome(4, requests, number, indices, MPI_STATUSES_IGNORE, ierror)
    call check(number == 2)
  end if
  call deliver(3, 0)
  if (rank == 1) then
    call MPI_Testsome(4, requests, number, indices, statuses, ierror)
    call check(number == 2)
  end if

  call post()
  call deliver(2, 3)
  call deliver(0, 1)
  if (rank == 1) then
    call MPI_Testall(2, requests(2:3), flag, statuses, ierror)
    call check(flag .and. ELEMENT(statuses, 1) == 2 .and. ELEMENT(statuses, 2) == 0)
    call MPI_Testall(4, requests, flag, MPI_STATUSES_IGNORE, ierror)
    call check(flag)
  end if
  if (rank == 0) print '(a,i0,a)', 'done on ', size, ' ranks'
  call MPI_Finalize(ierror)

contains

  ! Rank 1 has a receive for tag 10+i at place i: even ones are sent by rank 0, odd ones by rank 2.
  subroutine post()
    integer :: i
    if (rank /= 1) return
    do i = 0, 3
      call MPI_Irecv(buffer(i + 1), 1, MPI_INTEGER, MPI_ANY_SOURCE, 10 + i, MPI_COMM_WORLD, requests(i + 1), ierror)
    end do
  end subroutine post

  ! Rank 1 lets the message at place i go.
  subroutine release(i)
    integer, intent(in) :: i
    integer :: sender
    sender = merge(2, 0, mod(i, 2) == 1)
    if (rank == 1) call MPI_Send(note, 1, MPI_INTEGER, sender, 1, MPI_COMM_WORLD, ierror)
    if (rank == sender) then
      call MPI_Recv(note, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Send(note, i + 1, MPI_BYTE, 1, 10 + i, MPI_COMM_WORLD, ierror)
    end if
  end subroutine release

  ! Both senders send at once what is at places i and j; a note behind each says that it is there.
  subroutine deliver(i, j)
    integer, intent(in) :: i, j
    integer :: sender
    call release(i)
    call release(j)
    do sender = 0, 2, 2
      if (rank == sender) call MPI_Send(note, 1, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, ierror)
      if (rank == 1) call MPI_Recv(note, 1, MPI_INTEGER, sender, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end do
  end subroutine deliver

  subroutine check(condition)
    logical, intent(in) :: condition
    if (.not. condition) then
      print '(a,i0)', 'choices: wrong on rank ', rank
      call MPI_Abort(MPI_COMM_WORLD, 99, ierror)
    end if
  end subroutine check

end program choices
