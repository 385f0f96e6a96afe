//! A program with every kind of event.

/// A trace with every kind of event, as it comes out.
pub const EVERY_KIND: [&str; 3] = [
    "\
0 init
0 compute 1000
0 sleep 0.5
0 region_begin foo
0 region_end foo
0 pcontrol -1
0 send 1 7 100
0 ssend 1 7 100
0 bsend 1 7 100
0 bsend 1 7 100000
0 rsend 1 7 100
0 isend 1 7 100 6 0
0 issend 1 7 100 6 1
0 ibsend 1 7 100000 6 2
0 wait 0 1 7 1
0 waitall_of 0,2
0 sendrecv 1 3 10 1 4 20
0 sendrecv 1 3 10 - - -
0 send_init 1 5 64 0
0 start 0
0 wait_of 0
0 start 0
0 waitall_of 0
0 request_free 0
0 comm_dup 2 0 0-2
0 comm_split 3 0 1,0
0 on 2 send 1 7 100
0 on 3 send 1 7 100
0 on 3 allreduce 800 100 6 8
0 on 2 barrier
0 alltoallw 3 1 1 1 3 1 1 1
0 reducescatter_block 8 5 6 8
0 on 3 iallreduce 0 8 20 6 8
0 on 3 ibarrier 1
0 wait_of 1
0 wait_of 0
0 comm_free 3
0 intercomm_create 3 0 0 1
0 on 3 barrier
0 bcast_init 8 8 0
0 start 8
0 waitall_of 8
0 on 2 neighbor_alltoall 1 1 10 20
0 on 2 ineighbor_allgather 1 1 1 10 20
0 wait_of 1
0 on 2 neighbor_alltoallv_init 1 1 1 10 20
0 start 1
0 wait_of 1
0 psend_init 1 7 64 2 8
0 start 2
0 pready 2 0-7
0 wait_of 2
0 on 2 win_create 0 4096
0 win_fence 0
0 put 0 1 1000 0 3
0 wait_of 3
0 file_open 0
0 file_iwrite_at 0 500 3
0 wait_of 3
0 call MPI_Comm_spawn 0 0
0 finalize
",
    "\
1 init
1 recv 0 7 100
1 recv 0 7 100
1 recv 0 7 100 6 any_source
1 irecv 0 7 100000 6 0
1 irecv 0 7 100 6 1
1 wait_of 1
1 wait_of 0
1 irecv * * 100 6 0
1 irecv * 7 100 6 1
1 irecv * * 8 6 2
1 testany -
1 matched 0 0 7
1 testsome_of 0
1 matched 1 0 7
1 waitany_of 1
1 cancel 2
1 wait_of 2
1 probe 0 7 100
1 iprobe none 0 7 100
1 irecv 0 9 100 6 0
1 cancel 0
1 wait_of 0
1 irecv 0 9 100 6 0
1 recv 0 7 100000
1 sendrecv 0 4 20 0 3 10
1 sendrecv - - - 0 3 10
1 recv_init 0 5 64 1 any_tag
1 start 1
1 test_of 1
1 start 1
1 waitall_of 1
1 request_free 1
1 comm_dup 2 0 0-2
1 comm_split 3 0 1,0
1 on 3 recv 0 7 100
1 on 2 recv 0 7 100
1 on 3 allreduce 800 100 6 8
1 on 2 barrier
1 alltoallw 3 1 1 1 3 1 1 1
1 reducescatter_block 8 5 6 8
1 on 3 iallreduce 1 8 20 6 8
1 on 3 ibarrier 2
1 waitall_of 1,2
1 comm_free 3
1 intercomm_create 3 0 1 0
1 on 3 barrier
1 bcast_init 8 8 0
1 start 8
1 waitall_of 8
1 on 2 neighbor_alltoall 0 0 20 10
1 on 2 ineighbor_allgather 1 0 0 20 10
1 wait_of 1
1 on 2 neighbor_alltoallv_init 1 0 0 20 10
1 start 1
1 wait_of 1
1 precv_init 0 7 64 2 8
1 start 2
1 wait_of 2
1 finalize
",
    "\
2 init
2 comm_dup 2 0 0-2
2 comm_split - 0
2 on 2 barrier
2 alltoallw 3 1 1 1 3 1 1 1
2 reducescatter_block 8 5 6 8
2 bcast_init 8 8 0
2 start 8
2 waitall_of 8
2 on 2 neighbor_alltoall - -
2 on 2 ineighbor_allgather 1 - -
2 wait_of 1
2 on 2 neighbor_alltoallv_init 1 - -
2 start 1
2 wait_of 1
2 finalize
",
];
