/* Functions whose frames are of all kinds, which call each other in the order that a number says, and the last of them `end`. Built
 * as C and as C++. */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*function)(void);

#ifndef ROOM
#define ROOM 24
#endif

static volatile long sink;
int next(unsigned long order, int depth, function end);

/* A frame of nothing. */
__attribute__((noinline)) int plain(unsigned long order, int depth, function end) { return next(order, depth, end) + 1; }

/* A frame with room for variables. */
__attribute__((noinline)) int roomy(unsigned long order, int depth, function end) {
    volatile char room[ROOM];
    room[depth % 16] = 1;
    return next(order, depth, end) + room[depth % 16];
}

/* A frame whose size is known only when the function runs, so that it needs a base pointer. */
__attribute__((noinline)) int growing(unsigned long order, int depth, function end) {
    char *room = (char *)alloca(16 + order % 300);
    memset(room, 1, 16 + order % 300);
    sink += room[order % 16];
    return next(order, depth, end) + room[3];
}

/* A frame that begins at a multiple of more than the ABI promises. */
__attribute__((noinline)) int aligned(unsigned long order, int depth, function end) {
    volatile double room[8] __attribute__((aligned(64)));
    room[depth % 8] = 1;
    return next(order, depth, end) + (int)room[depth % 8];
}

/* The same, and of a size known only then. */
__attribute__((noinline)) int aligned_growing(unsigned long order, int depth, function end) {
    volatile double room[8] __attribute__((aligned(128)));
    char *more = (char *)alloca(16 + order % 300);
    memset(more, 1, 16 + order % 300);
    room[depth % 8] = more[3];
    return next(order, depth, end) + (int)room[depth % 8];
}

/* All registers that a call keeps are used, the base pointer too where it is none. */
__attribute__((noinline)) int busy(unsigned long order, int depth, function end) {
    long a = sink, b = a * 3 + 1, c = b ^ order, d = c * 7 + a, e = d ^ b, f = e + c, g = f * 5 + d, h = g ^ e;
    int result = next(order, depth, end);
    sink += a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
    return result + 1;
}

/* Arguments that are passed on the stack. */
__attribute__((noinline)) int many(unsigned long order, int depth, function end, long a, long b, long c, long d, long e, long f) {
    int result = next(order, depth, end);
    sink += a + b + c + d + e + f;
    return result + 1;
}
__attribute__((noinline)) int calls_many(unsigned long order, int depth, function end) {
    return many(order, depth, end, sink, sink + 1, sink + 2, sink + 3, sink + 4, sink + 5) + 1;
}

/* A function that does not return, so that a call is its last instruction. */
static __thread void *back[5];
__attribute__((noinline, noreturn)) void leaves(unsigned long order, int depth, function end) {
    next(order, depth, end);
    __builtin_longjmp(back, 1);
}
__attribute__((noinline)) int left(unsigned long order, int depth, function end) {
    if (__builtin_setjmp(back) == 0) leaves(order, depth, end);
    return 1;
}

#ifdef __cplusplus
struct Guard {
    ~Guard() { sink += 1; }
};
/* A frame with a destructor and a handler. */
__attribute__((noinline)) int guarded(unsigned long order, int depth, function end) {
    Guard guard;
    try {
        return next(order, depth, end) + 1;
    } catch (int number) {
        return number;
    }
}
#else
#define guarded roomy
#endif

int next(unsigned long order, int depth, function end) {
    unsigned long rest = order / 8 + order % 8 * 0x9e3779b97f4a7c15;
    if (depth == 0) {
        end();
        return sink != 0;
    }
    switch (order % 8) {
    case 0: return roomy(rest, depth - 1, end) + 1;
    case 1: return growing(rest, depth - 1, end) + 1;
    case 2: return aligned(rest, depth - 1, end) + 1;
    case 3: return aligned_growing(rest, depth - 1, end) + 1;
    case 4: return busy(rest, depth - 1, end) + 1;
    case 5: return calls_many(rest, depth - 1, end) + 1;
    case 6: return guarded(rest, depth - 1, end) + 1;
    default: return plain(rest, depth - 1, end) + 1;
    }
}

int chain(unsigned long order, int depth, function end) { return next(order, depth, end) + 1; }

/* A function that does not return is the first. */
int chain_without_return(unsigned long order, int depth, function end) { return left(order, depth, end) + 1; }

/* From a signal's handler. */
static function at_signal;
static void handle(int number) { next(number * 12345, 3, at_signal); }
int chain_in_signal(unsigned long order, int depth, function end) {
    (void)order, (void)depth;
    at_signal = end;
    signal(SIGUSR2, handle);
    raise(SIGUSR2);
    return signal(SIGUSR2, SIG_DFL) != SIG_ERR;
}

/* On the stack of a coroutine. */
static ucontext_t around, coroutine;
static function at_coroutine;
static unsigned long order_there;
static void run(void) { next(order_there, 5, at_coroutine); }
int chain_in_coroutine(unsigned long order, int depth, function end) {
    enum { SIZE = 1 << 20 };
    void *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)depth;
    order_there = order;
    at_coroutine = end;
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = SIZE;
    coroutine.uc_link = &around;
    makecontext(&coroutine, run, 0);
    swapcontext(&around, &coroutine);
    return munmap(stack, SIZE);
}

#ifdef __cplusplus
}
#endif
