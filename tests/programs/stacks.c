/* Calls of MPI on a coroutine's stack of 8 KiB, with a page below it that ends the program. The argument: whether collectives are called
 * there too. */
#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "check.h"

enum { STACK = 8192, PAGE = 4096, ROUNDS = 100 };

static ucontext_t back;
static int with_collectives;

static void exchange(void) {
    int in[4] = {rank}, out[4], peer = rank ^ 1, flag = 0;
    MPI_Request requests[2];
    if (rank % 2) {
        MPI_Recv(out, 4, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(in, 4, MPI_INT, peer, 2, MPI_COMM_WORLD);
    } else {
        MPI_Send(in, 4, MPI_INT, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(out, 4, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(out[0] == peer);
    MPI_Irecv(out, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(in, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(out, 4, MPI_INT, peer, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(in, 4, MPI_INT, peer, 4, MPI_COMM_WORLD);
    for (; !flag; sched_yield()) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
}

static void reduce(void) {
    int one = 1, sum;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size);
    MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == size);
}

static void work(void) {
    for (int i = 0; i < ROUNDS; i++) exchange();
    if (with_collectives) reduce();
}

int main(int argc, char **argv) {
    ucontext_t coroutine;
    begin(&argc, &argv);
    with_collectives = argc > 1;
    char *memory = mmap(NULL, PAGE + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory, PAGE, PROT_NONE);
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = memory + PAGE;
    coroutine.uc_stack.ss_size = STACK;
    coroutine.uc_link = &back;
    makecontext(&coroutine, work, 0);
    swapcontext(&back, &coroutine);
    MPI_Finalize();
    if (rank == 0) puts("done");
    return 0;
}
