/* Ends of a process that run no atexit handler: `sudden_ends HOW`, on one rank or on two. Every way has sent messages before, which
 * take so little text that nothing of them would be on disk by itself. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int is(const char *how, const char *name) { return !strcmp(how, name); }

static volatile sig_atomic_t caught;
static void catch(int signal) { caught = signal; }
static void leave(int signal) { _exit(40 + signal % 8); }

/* A loop of one message to oneself. */
static void loop(int rounds) {
    for (int i = 0; i < rounds; i++)
        MPI_Sendrecv(&rank, 1, MPI_INT, rank, 1, &caught, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    caught = 0;
}

/* What the program sees of a signal is what it would see untraced. */
static void check_disposition(int number) {
    struct sigaction now, own;
    memset(&own, 0, sizeof own);
    own.sa_handler = catch;
    CHECK(sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    CHECK(sigaction(number, &own, &now) == 0 && now.sa_handler == SIG_DFL);
    raise(number);
    CHECK(caught == number);
    CHECK(signal(number, SIG_IGN) == catch);
    raise(number);
    CHECK(signal(number, SIG_DFL) == SIG_IGN);
    CHECK(sigaction(number, &now, &own) == 0 && own.sa_handler == SIG_DFL);
    CHECK(signal(number, SIG_DFL) == SIG_DFL);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    char *const words[] = {"true", NULL}, *const empty[] = {NULL};
    begin(&argc, &argv);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    loop(100);
    if (rank == 0) printf("before the end\n"), fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is(how, "_exit")) _exit(6);
    if (is(how, "_Exit")) _Exit(6);
    if (is(how, "quick_exit")) quick_exit(6);
    if (is(how, "execl")) execl("/bin/sh", "sh", "-c", "exit $0$1$2$3$4$5", "0", "0", "0", "0", "0", "7", (char *)NULL);
    if (is(how, "execlp")) execlp("true", "true", (char *)NULL);
    if (is(how, "execle")) execle("/bin/true", "true", (char *)NULL, empty);
    if (is(how, "execv")) execv("/bin/true", words);
    if (is(how, "execvp")) execvp("true", words);
    if (is(how, "execve")) execve("/bin/true", words, empty);
    if (is(how, "abort")) abort();
    if (is(how, "segv")) *(volatile int *)8 = 1;
    if (is(how, "term")) raise(SIGTERM);
    if (is(how, "int")) raise(SIGINT);
    if (is(how, "quit")) raise(SIGQUIT);
    if (is(how, "xcpu")) raise(SIGXCPU);
    if (is(how, "handler")) signal(SIGTERM, leave), raise(SIGTERM);
    if (is(how, "reset")) check_disposition(SIGTERM), check_disposition(SIGUSR2), raise(SIGTERM);
    if (is(how, "error")) MPI_Send(NULL, 0, MPI_INT, 1000, 0, MPI_COMM_WORLD);
    if (is(how, "segv-one")) {
        if (rank == 1) *(volatile int *)8 = 1;
        sleep(20);
    }
    if (is(how, "error-one")) {
        if (rank == 1) MPI_Send(NULL, 0, MPI_INT, 1000, 0, MPI_COMM_WORLD);
        sleep(20);
    }
    if (is(how, "abort-one")) {
        if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (is(how, "waits")) {
        /* Nothing comes: the rank is in a call until it is killed. */
        alarm(3);
        MPI_Recv(&caught, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (is(how, "killed")) {
        loop(100);
        /* Longer than a flush takes, by the settings of the test. */
        sleep(1);
        raise(SIGKILL);
    }
    if (is(how, "goes-on")) {
        /* Failures, children, errors that return, and a handler of the program's: the trace goes on. */
        CHECK(execl("/no/such/program", "program", (char *)NULL) == -1 && errno == ENOENT);
        loop(100);
        for (int i = 0; i < 3; i++) {
            pid_t child = i == 0 ? vfork() : fork();
            if (child == 0 && i == 1) raise(SIGTERM);
            if (child == 0 && i == 2) execl("/bin/true", "true", (char *)NULL);
            if (child == 0) _exit(0);
            int status;
            waitpid(child, &status, 0);
            CHECK(i == 1 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM : status == 0);
        }
        check_disposition(SIGTERM);
        signal(SIGTERM, catch);
        raise(SIGTERM);
        CHECK(caught == SIGTERM);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        CHECK(MPI_Send(NULL, 0, MPI_INT, 1000, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
        loop(100);
    }
    return end();
}
