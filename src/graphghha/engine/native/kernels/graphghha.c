/* A whole ADU on one static graph: L + 1 passes over tiles of nodes.
 *
 *   pass 0      embed a tile                          -> H, then Q, K, V of layer 0
 *   pass l      both branches of layer l-1 for a tile -> H_cat -> W_H -> LayerNorm -> MLP -> H, then Q, K, V of layer l
 *   pass L      the same for the last layer           -> class probabilities
 *
 * Between passes the tiles' partial global states are summed; nothing else needs all nodes at once. */
#include "events.h"
#include "stages.h"
#include "threads.h"

#define EXPORT __attribute__((visibility("default")))

/* One pass of one tile; returns 0, 1 + a node with broken features, or -1 when scores are not finite. */
static int64_t pass(const Plan *p, int64_t number, const Window *win, const float *x, const uint8_t *mask, int64_t at,
                    const Scratch *s, float *probs) {
    const Tile tile = tile_of(p, at);
    const int64_t C = 2 * p->G, last = (number - 1) % 2, next = number % 2;
    float *H = win->H + tile.first * p->D, *Q = win->Q + tile.first * C;
    if (number == 0) {
        int64_t broken = embed(p, x, mask, &tile, H);
        if (broken) return broken;
    } else
        finish_layer(p, p->layer + number - 1, win->KV[last], s->state, Q, mask, &tile, s, H);
    if (number == p->layers) return classify(p, H, mask, &tile, s, probs) ? 0 : -1;
    project(p, p->layer + number, tile.rows, H, s, Q, win->KV[next] + tile.first * C, s->K1V1);
    accumulate_tile(p, tile.rows, s->K1V1, mask ? mask + tile.first : mask, win->partial[next] + at * state_size(p));
    return 0;
}

/* Buffers are cut from one allocation; every piece starts on a cache line. */
static void *cut(char **at, int64_t bytes) {
    char *piece = *at;
    *at += (bytes + 63) / 64 * 64;
    return piece;
}

static void cut_window(const Plan *p, char **at, Window *w) {
    w->H = cut(at, 4 * p->nodes * p->D);
    w->Q = cut(at, 4 * p->nodes * 2 * p->G);
    w->KV[0] = cut(at, 4 * p->nodes * 2 * p->G);
    w->KV[1] = cut(at, 4 * p->nodes * 2 * p->G);
    w->partial[0] = cut(at, 4 * num_tiles(p) * state_size(p));
    w->partial[1] = cut(at, 4 * num_tiles(p) * state_size(p));
}

static void cut_scratch(const Plan *p, char **at, Scratch *s) {
    s->H_cat = cut(at, sizeof(act_t) * TILE * 2 * p->G);
    s->normed = cut(at, sizeof(act_t) * TILE * p->D);
    s->hidden = cut(at, sizeof(act_t) * TILE * p->F);
    s->H_in = cut(at, sizeof(act_t) * TILE * p->D);
    s->K1V1 = cut(at, 4 * TILE * 2 * p->G);
    s->gates = cut(at, 4 * (TILE * 2 + VL));
    s->logits = cut(at, 4 * TILE * VL);
    s->state = cut(at, 4 * state_size(p));
    s->scores = cut(at, 4 * (p->max_degree + 1) * VL);
    s->nbr = cut(at, 4 * (p->max_degree + 1));
}

EXPORT int64_t ghha_vector_lanes(void) { return VL; }
EXPORT int64_t ghha_panel_columns(void) { return PANEL; }
EXPORT int64_t ghha_weight_format(void) { return FORMAT; }
EXPORT int64_t ghha_tile_rows(void) { return TILE; }
EXPORT int64_t ghha_uses_amx(void) { return HAS_AMX && amx_granted(); }

/* Bytes of workspace for `windows` windows at a time and `threads` threads; the caller aligns it to 64. */
EXPORT int64_t ghha_workspace_bytes(const Plan *p, int64_t windows, int64_t threads) {
    char *at = NULL;
    Window w;
    Scratch s;
    for (int64_t n = 0; n < windows; n++) cut_window(p, &at, &w);
    for (int64_t n = 0; n < threads; n++) cut_scratch(p, &at, &s);
    return at - (char *)NULL;
}

/* One call: all windows, and what its threads share. */
typedef struct {
    const Plan *plan;
    const float *x;
    const uint8_t *mask;
    float *probs;
    char *workspace;
    int64_t batch, windows, threads;
    int64_t window_bytes, scratch_bytes;
    int64_t status; /* of the first tile that failed, 0 if none */
    int64_t next;   /* window, when every thread scores its own */
    int64_t b;      /* window, when the threads share one: */
    int64_t *claim; /* [passes, threads] next tile of each thread's range */
    int64_t *done;  /* [passes] tiles */
} Call;

static int64_t count_present(const Plan *p, const uint8_t *mask) {
    int64_t present = p->nodes;
    for (int64_t i = 0; mask && i < p->nodes; i++) present -= !mask[i];
    return present;
}

static void cut_for(const Call *c, int64_t slot, int64_t me, Window *win, Scratch *s) {
    char *at = c->workspace + slot * c->window_bytes;
    cut_window(c->plan, &at, win);
    at = c->workspace + c->windows * c->window_bytes + me * c->scratch_bytes;
    cut_scratch(c->plan, &at, s);
}

/* The tiles of window c->b, pass by pass. Every thread has a range of its own, so that a tile mostly stays in the same
 * cache; whoever is through takes from the others. Which thread does a tile changes no bit of the result. */
static void score_tiles(void *context, int64_t me) {
    Call *c = context;
    const Plan *p = c->plan;
    const int64_t tiles = num_tiles(p), b = c->b;
    const float *x = c->x + b * p->nodes * p->features;
    const uint8_t *mask = c->mask ? c->mask + b * p->nodes : NULL;
    const int64_t present = count_present(p, mask);
    Window win;
    Scratch s;
    cut_for(c, 0, me, &win, &s);
    amx_enter();
    for (int64_t number = 0; number <= p->layers; number++) {
        int is_ready = number == 0;
        for (int64_t n = 0; n < c->threads; n++) {
            const int64_t owner = (me + n) % c->threads, end = tiles * (owner + 1) / c->threads;
            for (int64_t t; (t = take(&c->claim[number * c->threads + owner])) < end;) {
                if (!is_ready) {
                    await(&c->done[number - 1], tiles);
                    reduce_state(p, win.partial[(number - 1) % 2], present, s.state);
                    is_ready = 1;
                }
                if (__atomic_load_n(&c->status, __ATOMIC_RELAXED) == 0) {
                    int64_t status = pass(p, number, &win, x, mask, t, &s, c->probs + b * p->nodes * p->classes);
                    if (status != 0) __atomic_store_n(&c->status, status, __ATOMIC_RELAXED);
                }
                __atomic_fetch_add(&c->done[number], 1, __ATOMIC_RELEASE);
            }
        }
    }
    amx_leave();
    await(&c->done[p->layers], tiles);
}

/* All tiles of one window on this thread. */
static int64_t score_window(const Plan *p, const Window *win, const Scratch *s, const float *x, const uint8_t *mask,
                            float *probs) {
    const int64_t present = count_present(p, mask);
    for (int64_t number = 0; number <= p->layers; number++) {
        if (number > 0) reduce_state(p, win->partial[(number - 1) % 2], present, s->state);
        for (int64_t t = 0; t < num_tiles(p); t++) {
            int64_t status = pass(p, number, win, x, mask, t, s, probs);
            if (status != 0) return status;
        }
    }
    return 0;
}

/* Whole windows, one after the other, as long as there are any. */
static void score_windows(void *context, int64_t me) {
    Call *c = context;
    const Plan *p = c->plan;
    Window win;
    Scratch s;
    cut_for(c, me, me, &win, &s);
    amx_enter();
    for (int64_t b; (b = take(&c->next)) < c->batch;) {
        int64_t status = score_window(p, &win, &s, c->x + b * p->nodes * p->features,
                                      c->mask ? c->mask + b * p->nodes : NULL, c->probs + b * p->nodes * p->classes);
        if (status != 0) __atomic_store_n(&c->status, status, __ATOMIC_RELAXED);
    }
    amx_leave();
}

/* x [batch, s, f], mask [batch, s] or NULL, probs [batch, s, classes]. Returns 0, 1 + a node with broken features, or -1
 * when scores are not finite. `windows` = threads: every thread scores whole windows; 1: all share the tiles of one. */
EXPORT int64_t ghha_score(const Plan *p, const float *x, const uint8_t *mask, int64_t batch, int64_t windows,
                          int64_t threads, char *workspace, float *probs) {
    Call call = {.plan = p, .x = x, .mask = mask, .probs = probs, .workspace = workspace, .batch = batch,
                 .windows = windows, .window_bytes = ghha_workspace_bytes(p, 1, 0),
                 .scratch_bytes = ghha_workspace_bytes(p, 0, 1)};
    if (windows == threads) {
        share(threads, score_windows, &call);
        return call.status;
    }
    /* waking a helper costs more than a tile or two */
    const int64_t tiles = num_tiles(p), passes = p->layers + 1;
    call.threads = tiles / 2 < 1 ? 1 : tiles / 2 < threads ? tiles / 2 : threads;
    int64_t claim[passes * call.threads], done[passes];
    call.claim = claim;
    call.done = done;
    for (call.b = 0; call.b < batch && call.status == 0; call.b++) {
        memset(done, 0, sizeof done);
        for (int64_t i = 0; i < passes * call.threads; i++) claim[i] = tiles * (i % call.threads) / call.threads;
        share(call.threads, score_tiles, &call);
    }
    return call.status;
}

static void cut_kept(const Plan *p, char **at, Kept *kept, Gathered *g, Scratch *s) {
    for (int64_t l = 0; l < p->layers; l++)
        kept[l] = (Kept){
            .H = cut(at, 4 * p->nodes * p->D),
            .Q = cut(at, 4 * p->nodes * 2 * p->G),
            .KV = cut(at, 4 * p->nodes * 2 * p->G),
            .K1V1 = cut(at, 4 * p->nodes * 2 * p->G),
            .partial = cut(at, 4 * num_tiles(p) * state_size(p)),
            .state = cut(at, 4 * state_size(p)),
            .full = cut(at, 4 * state_size(p)),
        };
    g->H = cut(at, 4 * TILE * p->D);
    g->Q = cut(at, 4 * TILE * 2 * p->G);
    g->KV = cut(at, 4 * TILE * 2 * p->G);
    g->nodes = cut(at, 4 * p->nodes);
    cut_scratch(p, at, s);
}

EXPORT int64_t ghha_memory_bytes(const Plan *p) {
    char *at = NULL;
    Kept kept[p->layers];
    Gathered g;
    Scratch s;
    cut_kept(p, &at, kept, &g, &s);
    return at - (char *)NULL;
}

static int64_t update(const Plan *p, const float *x, const uint8_t *mask, uint8_t *active, char *memory, float *probs,
                      double *drift, int64_t *work) {
    Kept kept[p->layers];
    Gathered g;
    Scratch s;
    cut_kept(p, &memory, kept, &g, &s);
    const int64_t present = count_present(p, mask);
    const int full = memchr(active, 0, p->nodes) == NULL;
    *drift = 0.0;
    *work = 0;
    for (int64_t number = 0; number <= p->layers; number++) {
        int64_t count = 0;
        if (number > 0)
            count = spread_activity(p, active, g.nodes);
        else
            for (int64_t i = 0; i < p->nodes; i++)
                if (active[i]) g.nodes[count++] = (int32_t)i;
        for (int64_t at = 0; at < count; at += TILE) {
            const Tile t = {.rows = count - at < TILE ? count - at : TILE, .nodes = g.nodes + at};
            int64_t status = update_tile(p, number, kept, x, mask, &t, &g, &s, probs);
            if (status != 0) return status;
        }
        *work += count;
        if (number == p->layers) break;
        refresh_state(p, kept + number, active, mask, present);
        if (full) memcpy(kept[number].full, kept[number].state, 4 * state_size(p));
        const double moved = drift_of(p, kept + number);
        if (!(moved <= *drift)) *drift = moved;
    }
    return 0;
}

/* One window after another on the same memory. active [s]: 1 where a node's features changed (everywhere: a full pass);
 * on return, where scores were recomputed. probs [s, classes] keeps the others. work: rows recomputed in all passes. */
EXPORT int64_t ghha_update(const Plan *p, const float *x, const uint8_t *mask, uint8_t *active, char *memory,
                           float *probs, double *drift, int64_t *work) {
    amx_enter();
    int64_t status = update(p, x, mask, active, memory, probs, drift, work);
    amx_leave();
    return status;
}
