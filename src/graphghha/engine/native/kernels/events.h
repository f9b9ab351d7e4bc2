/* Event-driven scoring: recompute only what changed nodes reach, keep everything else from earlier calls.
 *
 * Kept per layer: its input H, its Q, K, V and the global state. Changed nodes are recomputed in pass 0; each further
 * pass adds the nodes that attend to a recomputed one. The state is exact: the partial sums of every tile with a
 * recomputed row are formed anew, so no rounding builds up. What is approximate: a node that is not reached keeps the
 * output it had under an earlier state; `drift` says how far the state has moved since the last full pass. */
#ifndef GHHA_EVENTS_H
#define GHHA_EVENTS_H

#include "stages.h"

typedef struct {
    float *H, *Q, *KV, *K1V1; /* [s, D], [s, 2G] */
    float *partial;           /* [tiles, G * wp] */
    float *state, *full;      /* [G * wp] now, and at the last full pass */
} Kept;

typedef struct {
    float *H, *Q, *KV; /* rows of one tile */
    int32_t *nodes;    /* [s] the nodes of a pass */
} Gathered;

static void gather(const Tile *t, int64_t width, const float *all, float *rows) {
    for (int64_t i = 0; i < t->rows; i++) memcpy(rows + i * width, all + node_of(t, i) * width, 4 * width);
}

static void scatter(const Tile *t, int64_t width, const float *rows, float *all) {
    for (int64_t i = 0; i < t->rows; i++) memcpy(all + node_of(t, i) * width, rows + i * width, 4 * width);
}

/* active[i]: recomputed in the last pass, 1; add 2 for those that attend to one, then make it 1. Returns how many. */
static int64_t spread_activity(const Plan *p, uint8_t *active, int32_t *nodes) {
    for (int64_t i = 0; i < p->nodes; i++)
        for (int64_t e = 0; active[i] == 0 && e < p->degree[i]; e++)
            if (active[p->idx[p->start[i] + e]] == 1) active[i] = 2;
    int64_t count = 0;
    for (int64_t i = 0; i < p->nodes; i++)
        if (active[i]) {
            active[i] = 1;
            nodes[count++] = (int32_t)i;
        }
    return count;
}

static void refresh_state(const Plan *p, const Kept *k, const uint8_t *active, const uint8_t *mask, int64_t present) {
    for (int64_t at = 0; at < num_tiles(p); at++) {
        const Tile t = tile_of(p, at);
        if (memchr(active + t.first, 1, t.rows))
            accumulate_tile(p, t.rows, k->K1V1 + t.first * 2 * p->G, mask ? mask + t.first : mask,
                            k->partial + at * state_size(p));
    }
    reduce_state(p, k->partial, present, k->state);
}

/* |now - full| / |full| */
static double drift_of(const Plan *p, const Kept *k) {
    double moved = 0.0, size = 1e-30;
    for (int64_t i = 0; i < state_size(p); i++) {
        const double d = (double)k->state[i] - k->full[i];
        moved += d * d;
        size += (double)k->full[i] * k->full[i];
    }
    return sqrt(moved / size);
}

/* One tile of one pass; returns as `pass` does. */
static int64_t update_tile(const Plan *p, int64_t number, const Kept *kept, const float *x, const uint8_t *mask,
                           const Tile *t, const Gathered *g, const Scratch *s, float *probs) {
    const int64_t C = 2 * p->G;
    if (number == 0) {
        int64_t broken = embed(p, x, mask, t, g->H);
        if (broken) return broken;
    } else {
        const Kept *k = kept + number - 1;
        gather(t, p->D, k->H, g->H);
        gather(t, C, k->Q, g->Q);
        finish_layer(p, p->layer + number - 1, k->KV, k->state, g->Q, mask, t, s, g->H);
    }
    if (number == p->layers) return classify(p, g->H, mask, t, s, probs) ? 0 : -1;
    project(p, p->layer + number, t->rows, g->H, s, g->Q, g->KV, s->K1V1);
    scatter(t, p->D, g->H, kept[number].H);
    scatter(t, C, g->Q, kept[number].Q);
    scatter(t, C, g->KV, kept[number].KV);
    scatter(t, C, s->K1V1, kept[number].K1V1);
    return 0;
}

#endif
