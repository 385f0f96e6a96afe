/* What programs do to descriptors that are not theirs: `descriptors HOW`. Prints how many of its own files are as it wrote them. */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILES = 8 };

static int is(const char *how, const char *name) { return !strcmp(how, name); }

/* Whether a descriptor may be the tracer's: MPI keeps its own files where the system keeps shared memory. */
static int is_a_trace(int file) {
    char name[4096], link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0) return 0;
    name[length] = 0;
    return strstr(name, "/traces/") != NULL;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    begin(&argc, &argv);
    int files[FILES], whole = 0, last = (int)sysconf(_SC_OPEN_MAX);
    if (last > 8192) last = 8192;
    int null = open("/dev/null", O_WRONLY);
    for (int file = 3; file < last; file++) {
        if (!is_a_trace(file)) continue;
        if (is(how, "close")) close(file);
        if (is(how, "replace")) dup2(null, file);
    }
    if (is(how, "limit")) {
        struct rlimit limit = {null + FILES + 8, null + FILES + 8};
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    }
    if (is(how, "stderr")) close(2);
    for (int i = 0; i < FILES; i++) {
        char name[64];
        snprintf(name, sizeof name, "/tmp/titr-%d-%d", getpid(), i);
        files[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        CHECK(files[i] >= 0);
        unlink(name);
    }
    exchange_many(20000);
    for (int i = 0; i < FILES; i++) CHECK(write(files[i], "hello\n", 6) == 6);
    for (int i = 0; i < FILES; i++) {
        struct stat now;
        whole += fstat(files[i], &now) == 0 && now.st_size == 6;
    }
    printf("%d files are whole\n", whole);
    return end();
}
