/* Makes the mistakes that a caller can make, and prints what the library says of each. */
#include <stdio.h>
#include <titrnetwork.h>

static void expect_failure(bool succeeded) { puts(succeeded ? "no error" : titr_network_error()); }

int main(int argc, char **argv) {
    titr_delivery delivery;
    if (argc != 2 || *titr_network_error()) return 1;
    expect_failure(titr_network_create(NULL) != NULL);
    titr_network *network = titr_network_create(argv[1]);
    expect_failure(titr_network_advance(NULL, 0));
    expect_failure(titr_network_take(network, NULL));
    expect_failure(titr_network_inject(network, 0, 3, 8, 0, 7));
    expect_failure(titr_network_inject(network, UINT32_MAX, 0, 8, 0, 8));
    if (!titr_network_advance(network, 5)) return 1;
    expect_failure(titr_network_inject(network, 0, 1, 8, 4, 9));
    expect_failure(titr_network_advance(network, 3));
    expect_failure(titr_network_inject(network, 0, 1, 8, TITR_NETWORK_NEVER, 10));
    expect_failure(titr_network_inject(network, 0, 1, 1000000000000000, 5, 12));
    expect_failure(titr_network_inject(network, 0, 1, UINT64_MAX, 5, 13));
    expect_failure(titr_network_advance(network, TITR_NETWORK_NEVER));
    /* Nothing of this has broken the network. */
    if (!titr_network_inject(network, 0, 0, 8, 5, 11) || !titr_network_advance(network, 1000000)) return 1;
    if (!titr_network_take(network, &delivery) || delivery.label != 11) return 1;
    if (titr_network_take(network, &delivery)) return 1;
    /* A message that cannot arrive before the end of time is refused, and the network goes on. */
    expect_failure(titr_network_inject(network, 0, 1, 8, TITR_NETWORK_NEVER - 1, 14));
    expect_failure(titr_network_advance(network, TITR_NETWORK_NEVER));
    if (!titr_network_advance(network, 2000000)) return 1;
    if (titr_network_next_event(network) != TITR_NETWORK_NEVER) return 1;
    if (!titr_network_advance(network, TITR_NETWORK_NEVER - 1) || titr_network_take(network, &delivery)) return 1;
    titr_network_destroy(network);
    titr_network_destroy(NULL);
    return 0;
}
