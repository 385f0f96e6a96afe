/* A program that knows nothing of MPI and loads a plugin that does, out of everybody else's sight, as Python does. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) return fprintf(stderr, "%s\n", dlerror()), 1;
    int (*work)(void) = (int (*)(void))dlsym(plugin, "work");
    return work();
}
