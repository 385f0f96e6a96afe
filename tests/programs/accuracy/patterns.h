/* What the patterns share: the world, buffers, and the size that each derives its messages from. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int rank, size;

/* The bytes of a large message. A block of an all-to-all is a quarter of it. */
extern int unit;

/* Room for four units, and for half a unit for each rank. */
extern char *out, *in;
extern size_t room;

/* Programs in small, in files of their own. */
void sort(void);
void fourier(void);
void transpose(void);
void ptrans(void);

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, rank, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 99);                                                 \
        }                                                                                  \
    } while (0)
