/* An integer sort in buckets, in the manner of NPB IS: every rank draws keys, all agree on how many keys each bucket has, and
 * each key goes to the rank that has its bucket. */
#include "patterns.h"

enum { BUCKETS = 1024, KEYS = 1 << 16 };

/* The bucket of the next key, from the middle more often than from the sides. */
static int draw(unsigned *state) {
    unsigned sum = 0;
    for (int i = 0; i < 2; i++) {
        *state = *state * 1103515245 + 12345;
        sum += (*state >> 16) % KEYS;
    }
    return sum / 2;
}

void sort(void) {
    int keys = unit / 4 * (size / 2) / (int)sizeof(int), *mine = (int *)out, *sorted = (int *)in;
    static int counts[BUCKETS], all[BUCKETS];
    int *drawn = malloc(keys * sizeof *drawn), place[BUCKETS], owner[BUCKETS];
    CHECK(drawn);
    unsigned state = rank + 1;
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < keys; i++) counts[(drawn[i] = draw(&state)) / (KEYS / BUCKETS)]++;
    MPI_Allreduce(counts, all, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

    int sends[size], receives[size], to[size], from[size], total = 0, given = 0, got = 0;
    memset(sends, 0, sizeof sends);
    for (int i = 0; i < BUCKETS; i++) total += all[i];
    for (int i = 0, before = 0; i < BUCKETS; before += all[i++]) {
        owner[i] = (int)((long)before * size / total);
        sends[owner[i]] += counts[i];
    }
    MPI_Alltoall(sends, 1, MPI_INT, receives, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        to[i] = given, given += sends[i];
        from[i] = got, got += receives[i];
    }
    CHECK(got * sizeof(int) <= room && keys * sizeof(int) <= room);
    for (int i = 0, at = 0; i < BUCKETS; at += counts[i++]) place[i] = at;
    for (int i = 0; i < keys; i++) mine[place[drawn[i] / (KEYS / BUCKETS)]++] = drawn[i];
    MPI_Alltoallv(mine, sends, to, MPI_INT, sorted, receives, from, MPI_INT, MPI_COMM_WORLD);
    free(drawn);
}
