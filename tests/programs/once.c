/* A library that says when it begins and ends, which each happens once. */
#include <string.h>
#include <unistd.h>

static void say(const char *text) { write(STDOUT_FILENO, text, strlen(text)); }

__attribute__((constructor)) static void begun(void) { say("once: begins\n"); }

__attribute__((destructor)) static void ended(void) { say("once: ends\n"); }
