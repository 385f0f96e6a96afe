/* The ways a program may end: `ends HOW`. Every way has sent messages before. 2 ranks, or 1. */
#include "check.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "finalize";
    begin(&argc, &argv);
    if (!strcmp(how, "disk-full")) {
        /* What a file may hold from here on; MPI's own files are open and large enough. */
        struct rlimit limit = {64 << 10, 64 << 10};
        CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    }
    exchange_many(20000);
    if (rank == 0) printf("before the end\n"), fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(how, "abort")) {
        if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
        sleep(20);
    }
    if (!strcmp(how, "exit")) exit(5);
    if (!strcmp(how, "return")) return 5;
    if (!strcmp(how, "kill")) {
        until_written();
        if (rank == size - 1) raise(SIGKILL);
        sleep(20);
    }
    if (!strcmp(how, "fork")) {
        /* A child that exits normally, and one that becomes another program. */
        for (int i = 0; i < 2; i++) {
            pid_t child = fork();
            if (child == 0) {
                if (i == 0) exit(0);
                execl("/bin/true", "true", (char *)NULL);
            }
            int status;
            waitpid(child, &status, 0);
            CHECK(status == 0);
        }
    }
    return end();
}
