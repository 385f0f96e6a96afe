/* Random legal programs: `random FIRST LAST [STEPS [THREADS [PLAIN [verbose]]]]` carries out a program for each seed from FIRST to LAST, one
 * after the other, each of so many steps (0: as many as the seed says) and in so many threads, which call MPI at the same time.
 *
 * Each rank writes `sums-RANK`, a line for each seed with a sum of all that it received, which is the same in every run; and
 * `counts-RANK`, how often it called each function of MPI, how many messages it sent outside of collectives, and their bytes. */
#include "random/program.h"
#include "random/completion.h"
#include "random/messages.h"
#include "random/taken.h"
#include "random/persistent.h"
#include "random/collectives.h"
#include "random/communicators.h"
#include "random/one_sided.h"
#include "random/files.h"
#include "random/local.h"

/* What a step may be, and how often it is in a hundred. */
static const struct {
    const char *name;
    int weight;
} kinds[] = {
    {"message", 15}, {"exchange", 10}, {"fan in", 6},    {"shift", 4},        {"nobody", 3},     {"complete", 10},
    {"set", 3},      {"start", 5},     {"partitioned", 2}, {"collective", 18}, {"make", 6},       {"free", 3},
    {"between", 2},  {"one-sided", 2}, {"files", 1},     {"attributes", 1},  {"errors", 1},     {"regions", 1},
    {"generalised", 1}, {"out of order", 4}, {"cancelled", 1}, {"detach", 1},
};

static int draw_kind(void) {
    int kind = 0, left = draw(100);
    while (left >= kinds[kind].weight) left -= kinds[kind++].weight;
    return kind;
}

static void step(void) {
    int kind = draw_kind(), freed = program.comms > 1 ? 1 + draw(program.comms - 1) : 0, computes = draw(3) == 0;
    struct comm *comm = draw_comm(-1), *with = draw(5) == 0 && draw_comm(INTER) != NULL ? draw_comm(INTER) : comm;
    if (plain && (kind == 8 || kind == 13 || kind == 14)) kind = 19;
    program.own = key_of(1000 + rank);
    if (verbose) fprintf(stderr, "seed %ld thread %d step %d rank %d: %s\n", (long)program.seed, program.thread, program.step, rank, kinds[kind].name);
    if (program.pendings > PENDING - 32) complete_all();
    if (computes) compute(choose(100));
    switch (kind) {
        case 0: one_message(with); break;
        case 1: exchange(with); break;
        case 2: fan_in(comm); break;
        case 3: shift(comm); break;
        case 4: nobody(comm); break;
        case 5: complete_some(); break;
        case 6: make_set(with); break;
        case 7: start_set(); break;
        case 8: partitioned(comm); break;
        case 9: collective(comm); break;
        case 10: make_comm(comm); break;
        case 11:
            if (freed > 0) free_comm(freed);
            break;
        case 12: collective(with); break;
        case 13:
            if (has_windows()) one_sided(comm);
            break;
        case 14:
            /* Open MPI 4.1 and MPICH 4.0 deadlock now and then where two threads open files. */
            if (threads == 1) files(comm);
            break;
        case 15: attributes(comm); break;
        case 16: errors(comm); break;
        case 17: regions(); break;
        case 18: generalised(); break;
        case 19: out_of_order(comm); break;
        case 20: cancelled(comm); break;
        default: detach();
    }
    /* What the step chose after it completed requests is not the same in every run. */
    program.own = key_of(2000 + rank);
    if (choose(10) == 0) questions(&program.comm[choose(program.comms)]);
}

struct task {
    uint64_t seed, sum;
    int thread, steps;
    MPI_Comm comm;
};

/* A program of one thread, on a communicator of all ranks that no other thread uses. */
static void *run(void *argument) {
    struct task *task = argument;
    memset(&program, 0, sizeof program);
    memset(sets, 0, sizeof sets);
    copied = deleted = handled = 0;
    program.seed = task->seed, program.thread = task->thread;
    program.shared = mixed(task->seed * 64 + task->thread);
    struct comm *all = fresh(NULL);
    for (int i = 0; i < size; i++) add_member(all, 0, i);
    all->comm = task->comm;
    program.comms = 1;
    int drawn = 10 + draw(40);
    for (program.step = 0; program.step < (task->steps > 0 ? task->steps : drawn); program.step++) step();
    complete_all();
    while (program.comms > 1) free_comm(1 + draw(program.comms - 1));
    free_sets(all->comm);
    MPI(Barrier, all->comm);
    for (int i = 0; i < program.room_count; i++) free(program.rooms[i]);
    free(program.rooms);
    task->sum = program.sum;
    return NULL;
}

static FILE *output(const char *what) {
    char name[32];
    snprintf(name, sizeof name, "%s-%d", what, rank);
    return fopen(name, "w");
}

static void write_counts(void) {
    FILE *file = output("counts");
    for (struct tally *tally = tallies; tally->name != NULL; tally++) {
        fprintf(file, "%s %ld\n", tally->name, tally->calls);
        if (tally->within > 0) fprintf(file, "within %s %ld\n", tally->name, tally->within);
    }
    fprintf(file, "posted %ld\nfound %ld\n", posted_messages, found_messages);
    fprintf(file, "messages %ld\nbytes %ld\n", sent_messages, sent_bytes);
    fclose(file);
}

int main(int argc, char **argv) {
    enum { THREADS = 4, BUFFER = 1 << 26 };
    long first = atol(argv[1]), last = atol(argv[2]);
    int steps = argc > 3 ? atoi(argv[3]) : 0, provided;
    threads = argc > 4 ? atoi(argv[4]) : 1, plain = argc > 5 && atoi(argv[5]), verbose = argc > 6;
    MPI(Init_thread, &argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI(Comm_rank, MPI_COMM_WORLD, &rank);
    MPI(Comm_size, MPI_COMM_WORLD, &size);
    CHECK(size <= RANKS && threads <= THREADS && (threads == 1 || provided == MPI_THREAD_MULTIPLE));
    FILE *sums = output("sums");
    void *buffer = malloc(BUFFER);
    make_types();
    make_ops();
    MPI(Buffer_attach, buffer, BUFFER);
    for (long seed = first; seed <= last; seed++) {
        struct task tasks[THREADS];
        pthread_t handles[THREADS];
        for (int i = 0; i < threads; i++) {
            tasks[i] = (struct task){.seed = seed, .thread = i, .steps = steps, .comm = MPI_COMM_WORLD};
            if (i > 0) MPI(Comm_dup, MPI_COMM_WORLD, &tasks[i].comm);
        }
        for (int i = 1; i < threads; i++) pthread_create(&handles[i], NULL, run, &tasks[i]);
        run(&tasks[0]);
        for (int i = 1; i < threads; i++) pthread_join(handles[i], NULL);
        for (int i = 1; i < threads; i++) MPI(Comm_free, &tasks[i].comm);
        fprintf(sums, "%ld:", seed);
        for (int i = 0; i < threads; i++) fprintf(sums, " %016lx", (long)tasks[i].sum);
        fprintf(sums, "\n");
        fflush(sums);
        MPI(Barrier, MPI_COMM_WORLD);
    }
    MPI(Buffer_detach, &buffer, &provided);
    free(buffer);
    free_ops();
    free_types();
    fclose(sums);
    MPI(Finalize);
    write_counts();
    return 0;
}
