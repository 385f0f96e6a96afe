//! Point-to-point communication (chapter 3) and partitioned communication (chapter 4).

use crate::argument::{Message, Opaque, Place, Request, StatusArgument};
use crate::signature::{
    Mrecv, Partitioned, Partitions, Probe, Recv, Requests, Send, Sendrecv, SendrecvReplace, TestAll, WaitAll, WaitSome,
};

super::chapter! {
    /// Messages, and their requests.
    pub enum PointToPoint<'c> {
        MPI_Send, MPI_Send_c (6): Send<'c>;
        MPI_Bsend, MPI_Bsend_c (6): Send<'c>;
        MPI_Rsend, MPI_Rsend_c (6): Send<'c>;
        MPI_Ssend, MPI_Ssend_c (6): Send<'c>;
        MPI_Isend, MPI_Isend_c (7): Send<'c>, Place<'c, Request>;
        MPI_Ibsend, MPI_Ibsend_c (7): Send<'c>, Place<'c, Request>;
        MPI_Irsend, MPI_Irsend_c (7): Send<'c>, Place<'c, Request>;
        MPI_Issend, MPI_Issend_c (7): Send<'c>, Place<'c, Request>;
        MPI_Send_init, MPI_Send_init_c (7) Local: Send<'c>, Place<'c, Request>;
        MPI_Bsend_init, MPI_Bsend_init_c (7) Local: Send<'c>, Place<'c, Request>;
        MPI_Rsend_init, MPI_Rsend_init_c (7) Local: Send<'c>, Place<'c, Request>;
        MPI_Ssend_init, MPI_Ssend_init_c (7) Local: Send<'c>, Place<'c, Request>;
        MPI_Recv, MPI_Recv_c (7): Recv<'c>, StatusArgument<'c>;
        MPI_Irecv, MPI_Irecv_c (7): Recv<'c>, Place<'c, Request>;
        MPI_Recv_init, MPI_Recv_init_c (7) Local: Recv<'c>, Place<'c, Request>;
        MPI_Sendrecv, MPI_Sendrecv_c (12): Sendrecv<'c>, StatusArgument<'c>;
        MPI_Isendrecv, MPI_Isendrecv_c (12): Sendrecv<'c>, Place<'c, Request>;
        MPI_Sendrecv_replace, MPI_Sendrecv_replace_c (9): SendrecvReplace<'c>, StatusArgument<'c>;
        MPI_Isendrecv_replace, MPI_Isendrecv_replace_c (9): SendrecvReplace<'c>, Place<'c, Request>;
        MPI_Probe (4): Probe<'c>, StatusArgument<'c>;
        MPI_Iprobe (5): Probe<'c>, Place<'c, i32>, StatusArgument<'c>;
        MPI_Mprobe (5): Probe<'c>, Place<'c, Message>, StatusArgument<'c>;
        MPI_Improbe (6): Probe<'c>, Place<'c, i32>, Place<'c, Message>, StatusArgument<'c>;
        MPI_Mrecv, MPI_Mrecv_c (5): Mrecv<'c>, Place<'c, Message>, StatusArgument<'c>;
        MPI_Imrecv, MPI_Imrecv_c (5): Mrecv<'c>, Place<'c, Message>, Place<'c, Request>;
        MPI_Start (1): Place<'c, Request>;
        MPI_Startall (2): Requests<'c>;
        MPI_Request_free (1) Local: Place<'c, Request>;
        MPI_Cancel (1) Local: Place<'c, Request>;
        MPI_Request_get_status (3): Request, Place<'c, i32>, StatusArgument<'c>;
        MPI_Request_get_status_all (4): TestAll<'c>;
        MPI_Request_get_status_any (5): Requests<'c>, Place<'c, i32>, Place<'c, i32>, StatusArgument<'c>;
        MPI_Request_get_status_some (5): WaitSome<'c>;
        MPI_Wait (2): Place<'c, Request>, StatusArgument<'c>;
        MPI_Waitall (3): WaitAll<'c>;
        MPI_Waitany (4): Requests<'c>, Place<'c, i32>, StatusArgument<'c>;
        MPI_Waitsome (5): WaitSome<'c>;
        MPI_Test (3): Place<'c, Request>, Place<'c, i32>, StatusArgument<'c>;
        MPI_Testall (4): TestAll<'c>;
        MPI_Testany (5): Requests<'c>, Place<'c, i32>, Place<'c, i32>, StatusArgument<'c>;
        MPI_Testsome (5): WaitSome<'c>;
        MPI_Psend_init, MPI_Psend_init_c (9) Local: Partitioned<'c>, Opaque, Place<'c, Request>;
        MPI_Precv_init, MPI_Precv_init_c (9) Local: Partitioned<'c>, Opaque, Place<'c, Request>;
        MPI_Pready (2): i32, Request;
        MPI_Pready_range (3): i32, i32, Request;
        MPI_Pready_list (3): Partitions<'c>, Request;
        MPI_Parrived (3): Request, i32, Place<'c, i32>;
    }
    local:
        MPI_Buffer_attach(2), MPI_Buffer_attach_c(2), MPI_Comm_attach_buffer(3), MPI_Comm_attach_buffer_c(3),
        MPI_Get_count(3), MPI_Get_count_c(3), MPI_Session_attach_buffer(3), MPI_Session_attach_buffer_c(3),
        MPI_Status_get_error(2), MPI_Status_get_source(2), MPI_Status_get_tag(2), MPI_Test_cancelled(2);
    communicates:
        MPI_Buffer_detach(2), MPI_Buffer_detach_c(2), MPI_Buffer_flush(0), MPI_Buffer_iflush(1),
        MPI_Comm_detach_buffer(3), MPI_Comm_detach_buffer_c(3), MPI_Comm_flush_buffer(1), MPI_Comm_iflush_buffer(2),
        MPI_Session_detach_buffer(3), MPI_Session_detach_buffer_c(3), MPI_Session_flush_buffer(1),
        MPI_Session_iflush_buffer(2);
}
