/* A simulator that drives one of titr's networks: node 0 asks every other node, which answers 100 ns after the request has
 * arrived. Prints the arrivals. See docs/NETWORK-LIBRARY.md.
 *
 *   cc -o network network.c -ltitrnetwork
 *   ./network packet.toml
 */
#include <inttypes.h>
#include <stdio.h>
#include <titrnetwork.h>

enum { REQUEST_BYTES = 8, ANSWER_BYTES = 40 };
static const uint64_t THINKING = 100000; /* ps */

static int failed(void) {
    fprintf(stderr, "network: %s\n", titr_network_error());
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s PLATFORM\n", argv[0]);
        return 2;
    }
    titr_network *network = titr_network_create(argv[1]);
    if (!network) return failed();

    uint32_t nodes = titr_network_nodes(network);
    for (uint32_t node = 1; node < nodes; node++)
        if (!titr_network_inject(network, 0, node, REQUEST_BYTES, 0, node)) return failed();

    /* Answers are labelled after the node that gives them, too: their destination tells them from requests. */
    uint64_t now;
    while ((now = titr_network_next_event(network)) != TITR_NETWORK_NEVER) {
        if (!titr_network_advance(network, now)) return failed();
        titr_delivery delivery;
        while (titr_network_take(network, &delivery)) {
            printf("%" PRIu64 " ps: %s %" PRIu64 "\n", delivery.time, delivery.destination ? "request to" : "answer from",
                   delivery.label);
            uint32_t node = delivery.destination;
            if (node && !titr_network_inject(network, node, 0, ANSWER_BYTES, now + THINKING, delivery.label))
                return failed();
        }
    }
    titr_network_destroy(network);
    return 0;
}
