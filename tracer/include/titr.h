/* Marks the regions of a program for titr's tracer. Nothing has to be linked: the marks are calls of MPI_Pcontrol, which
 * does nothing where no tool is preloaded (MPI 4.0, section 15.2.4). */
#ifndef TITR_H
#define TITR_H

#include <mpi.h>

/* The level of MPI_Pcontrol that says that a name follows: the letters "titr". */
#define TITR_REGION 0x74697472

/* A region of this name begins in this thread. Regions may lie within each other. */
static inline void titr_region_begin(const char *name) {
    MPI_Pcontrol(TITR_REGION, name);
}

/* The region of this name that began last in this thread ends. */
static inline void titr_region_end(const char *name) {
    MPI_Pcontrol(-TITR_REGION, name);
}

#endif
