/* Leaves a trace that compresses badly, and then something goes wrong while it is gathered: `gather HOW [ARCHIVE STREAM]`.
 *   full  rank 0 cannot write a file as large as all streams are
 *   die   rank 0 is killed while the last rank, whose STREAM is made a pipe that nobody writes to, holds all others up */
#include "check.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char data[8192];

/* Kills its parent once `archive` is being written. */
static void watch(const char *archive) {
    pid_t parent = getpid();
    if (fork() != 0) return;
    struct stat file;
    for (int tries = 0; tries < 60000; tries++) {
        if (stat(archive, &file) == 0 && file.st_size > 0) kill(parent, SIGKILL), _exit(0);
        usleep(1000);
    }
    _exit(1);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    begin(&argc, &argv);
    unsigned random = 12345 + rank;
    for (int i = 0; i < 60000; i++) {
        random = random * 1664525u + 1013904223u;
        int bytes = random >> 19, tag = random >> 4 & 0x7fff;
        MPI_Sendrecv_replace(data, bytes, MPI_BYTE, rank, tag, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(how, "full") && rank == 0) {
        struct rlimit limit = {1 << 20, 1 << 20};
        CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    }
    if (!strcmp(how, "die") && rank == 0) watch(argv[2]);
    if (!strcmp(how, "die") && rank == size - 1) {
        char kept[4096];
        snprintf(kept, sizeof kept, "%s.kept", argv[3]);
        CHECK(rename(argv[3], kept) == 0 && mkfifo(argv[3], 0600) == 0);
    }
    return end();
}
