/* Two worlds connect by a port, twice, and two processes by a socket: two ranks spawn two more of this program, which open
 * the port and let them go. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

/* The even rank listens, the odd one calls it. */
static int socket_to(int other) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int end = socket(AF_INET, SOCK_STREAM, 0);
    if (rank % 2 == 0) {
        CHECK(bind(end, (struct sockaddr *)&address, length) == 0 && listen(end, 1) == 0);
        getsockname(end, (struct sockaddr *)&address, &length);
        MPI_Send(&address.sin_port, 2, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        return accept(end, NULL, NULL);
    }
    MPI_Recv(&address.sin_port, 2, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(connect(end, (struct sockaddr *)&address, length) == 0);
    return end;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm parent, other, again;
    char port[MPI_MAX_PORT_NAME] = "";
    int number = rank, i;
    MPI_Comm_get_parent(&parent);
    int spawned = parent != MPI_COMM_NULL;
    if (spawned) {
        other = parent;
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, port);
            MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 3, other);
        }
    } else {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
        if (rank == 0) MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 3, other, MPI_STATUS_IGNORE);
    }
    MPI_Comm_disconnect(&other);
    for (i = 0; i < 2; i++) {
        if (spawned) MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &again);
        else MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &again);
        MPI_Sendrecv_replace(&number, 1, MPI_INT, 1 - rank, 9, 1 - rank, 9, again, MPI_STATUS_IGNORE);
        MPI_Allreduce(&rank, &number, 1, MPI_INT, MPI_SUM, again);
        CHECK(number == 1);
        MPI_Comm_disconnect(&again);
    }
    if (spawned && rank == 0) MPI_Close_port(port);
    if (!spawned) {
        int end = socket_to(1 - rank);
        MPI_Comm_join(end, &other);
        MPI_Sendrecv_replace(&number, 1, MPI_INT, 0, 9, 0, 9, other, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&other);
        close(end);
        if (rank == 0) printf("done on %d ranks\n", size);
    }
    MPI_Finalize();
    return 0;
}
