/* Worlds that spawn worlds: each of two ranks spawns a world of two by itself, and each of these a world of one. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int generation = argc > 1 ? atoi(argv[1]) : 0, number = -1, all;
    char next[2] = {(char)('1' + generation), 0};
    char *arguments[] = {next, NULL}, *commands[] = {argv[0], argv[0]}, **both[] = {arguments, arguments};
    int ones[] = {1, 1};
    MPI_Comm parent, child, family;
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_get_parent(&parent);
    CHECK((parent != MPI_COMM_NULL) == (generation > 0));
    if (generation == 0) {
        MPI_Info_create(&infos[1]);
        MPI_Info_set(infos[1], "env", "GREETING=hello");
        MPI_Comm_spawn_multiple(2, commands, both, ones, infos, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
        MPI_Info_free(&infos[1]);
        MPI_Send(&rank, 1, MPI_INT, 1, 4, child);
    } else if (generation == 1) {
        MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
        const char *greeting = getenv("GREETING");
        if (rank == 1) {
            CHECK(greeting && strcmp(greeting, "hello") == 0);
            MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, parent, MPI_STATUS_IGNORE);
            CHECK(number == 0 || number == 1);
        }
        /* Down to the youngest, by way of one communicator of both younger worlds. */
        MPI_Intercomm_merge(child, 0, &family);
        MPI_Bcast(&number, 1, MPI_INT, 1, family);
        MPI_Comm_free(&family);
    }
    if (generation == 2) {
        MPI_Intercomm_merge(parent, 1, &family);
        MPI_Bcast(&number, 1, MPI_INT, 1, family);
        CHECK(number == 0 || number == 1);
        MPI_Comm_free(&family);
    } else {
        MPI_Comm_disconnect(&child);
    }
    if (parent != MPI_COMM_NULL) MPI_Comm_disconnect(&parent);
    MPI_Reduce(&number, &all, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && generation == 0) printf("done on %d ranks\n", size);
    MPI_Finalize();
    return 0;
}
