/* What MPI 4.0 added, for libraries that have it: counts beyond an int, partitioned messages, sessions. 2 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    char data[64] = {0}, room[64];
    MPI_Count counts[2] = {8, 16};
    MPI_Aint displacements[2] = {0, 8};
    MPI_Request request;
    int peer = 1 - rank, flag;

    if (rank == 0) MPI_Send_c(data, 64, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
    else MPI_Recv_c(room, 64, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast_c(data, 32, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Allgatherv_c(data, counts[rank], MPI_CHAR, room, counts, displacements, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Iallreduce_c(MPI_IN_PLACE, data, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    if (rank == 0) MPI_Psend_init(data, 4, 16, MPI_CHAR, peer, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else MPI_Precv_init(room, 4, 16, MPI_CHAR, peer, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2; round++) {
        MPI_Start(&request);
        if (rank == 0) {
            MPI_Pready(3, request);
            MPI_Pready_range(0, 1, request);
            MPI_Pready_list(1, (int[]){2}, request);
        } else {
            do MPI_Parrived(request, 3, &flag); while (!flag);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);

    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "titr", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Sendrecv(data, 8, MPI_CHAR, peer, 3, room, 8, MPI_CHAR, peer, 3, comm, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return end();
}
