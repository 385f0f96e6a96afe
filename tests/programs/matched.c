/* Matched probes take their messages at once: other receives and probes get later ones, and the program receives them in any order.
 * 3 ranks. */
#include "check.h"

enum { LONG = 100000, EACH = 4 };
static char data[EACH][LONG];

/* Sends messages alike but for their sizes, the first the longest. */
static void send(int to, int tag, MPI_Comm comm) {
    MPI_Request requests[EACH];
    for (int i = 0; i < EACH; i++) MPI_Isend(data[i], LONG >> 4 * i, MPI_CHAR, to, tag, comm, &requests[i]);
    MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE);
}

/* Finds the next message, which is the `nth` of its sender. */
static MPI_Message find(int nth, int from, int tag, MPI_Comm comm) {
    MPI_Message message;
    MPI_Status status;
    int count;
    if (nth % 2) MPI_Mprobe(from, tag, comm, &message, &status);
    else
        for (int found = 0; !found;) MPI_Improbe(from, tag, comm, &found, &message, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    CHECK(count == LONG >> 4 * nth);
    return message;
}

/* Receives the `nth` message of a sender. */
static void receive(int nth, MPI_Message message) {
    MPI_Status status;
    int count;
    MPI_Mrecv(data[nth], LONG >> 4 * nth, MPI_CHAR, &message, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    CHECK(count == LONG >> 4 * nth);
}

/* The first two messages are found; a receive of each kind gets the third; and so on. */
static void get(int how, int from, int tag, MPI_Comm comm) {
    MPI_Message first = find(0, from, tag, comm), second = find(1, from, tag, comm), last;
    MPI_Request requests[2];
    int size = LONG >> 8;
    switch (how) {
        case 0:
            MPI_Recv(data[2], size, MPI_CHAR, from, tag, comm, MPI_STATUS_IGNORE);
            receive(1, second);
            receive(0, first);
            receive(3, find(3, from, tag, comm));
            break;
        case 1:
            MPI_Irecv(data[2], size, MPI_CHAR, from, tag, comm, &requests[0]);
            receive(0, first);
            MPI_Imrecv(data[1], LONG >> 4, MPI_CHAR, &second, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(data[3], LONG >> 12, MPI_CHAR, from, tag, comm, MPI_STATUS_IGNORE);
            break;
        case 2:
            MPI_Recv_init(data[2], size, MPI_CHAR, from, tag, comm, &requests[0]);
            MPI_Start(&requests[0]);
            last = find(3, from, tag, comm);
            receive(3, last);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
            MPI_Request_free(&requests[0]);
            MPI_Imrecv(data[1], LONG >> 4, MPI_CHAR, &second, &requests[1]);
            receive(0, first);
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            break;
        default:
            MPI_Sendrecv(NULL, 0, MPI_CHAR, MPI_PROC_NULL, 0, data[2], size, MPI_CHAR, from, tag, comm, MPI_STATUS_IGNORE);
            MPI_Mprobe(MPI_PROC_NULL, tag, comm, &last, MPI_STATUS_IGNORE);
            CHECK(last == MPI_MESSAGE_NO_PROC);
            MPI_Mrecv(data[3], LONG, MPI_CHAR, &last, MPI_STATUS_IGNORE);
            receive(0, first);
            last = find(3, from, tag, comm);
            receive(1, second);
            receive(3, last);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &inter);
    for (int how = 0; how < 4; how++) {
        if (rank == 0) {
            send(1, how, MPI_COMM_WORLD);
            send(1, how, inter);
        } else if (rank == 1) {
            send(2, how, MPI_COMM_WORLD);
            get(how, 0, how, MPI_COMM_WORLD);
        } else {
            get(how, MPI_ANY_SOURCE, how % 2 ? MPI_ANY_TAG : how, MPI_COMM_WORLD);
            get(how, 0, how, inter);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return end();
}
