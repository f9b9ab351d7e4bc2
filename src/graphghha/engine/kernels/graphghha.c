/* A whole ADU on one static graph: L + 1 passes over tiles of nodes.
 *
 *   pass 0      embed a tile                          -> H, then Q, K, V of layer 0
 *   pass l      both branches of layer l-1 for a tile -> H_cat -> W_H -> LayerNorm -> MLP -> H, then Q, K, V of layer l
 *   pass L      the same for the last layer           -> class probabilities
 *
 * Between passes the tiles' partial global states are summed; nothing else needs all nodes at once. */
#include "global.h"
#include "local.h"
#include "plan.h"
#include "product.h"
#ifdef _OPENMP
#include <omp.h>
#endif

#define EXPORT __attribute__((visibility("default")))

/* H(0) of one tile; returns 1 + the first node whose features are not finite, else 0. */
static int64_t embed(const Plan *p, const float *x, const uint8_t *mask, int64_t first, int64_t rows, float *H) {
    for (int64_t i = first; i < first + rows; i++) {
        const float *role = p->role_embedding + p->roles[i] * p->D;
        float *out = H + i * p->D;
        /* features of absent or unmeasured nodes are never read */
        const int reads = p->kinds[i] >= 0 && (!mask || mask[i]);
        const float *features = x + i * p->features, *W = p->projection + p->kinds[i] * p->features * p->D;
        float broken = 0.0f;
        for (int64_t j = 0; reads && j < p->features; j++) broken += features[j] * 0.0f;
        if (broken != 0.0f) return i + 1;
        int64_t at = 0;
        for (; at + 4 * VL <= p->D; at += 4 * VL) {
            vf a = load(role + at), b = load(role + at + VL), c = load(role + at + 2 * VL), d = load(role + at + 3 * VL);
            for (int64_t j = 0; reads && j < p->features; j++) {
                const float *w = W + j * p->D + at;
                a += features[j] * load(w);
                b += features[j] * load(w + VL);
                c += features[j] * load(w + 2 * VL);
                d += features[j] * load(w + 3 * VL);
            }
            store(out + at, a);
            store(out + at + VL, b);
            store(out + at + 2 * VL, c);
            store(out + at + 3 * VL, d);
        }
        for (; at < p->D; at += VL) {
            vf a = load(role + at);
            for (int64_t j = 0; reads && j < p->features; j++) a += features[j] * load(W + j * p->D + at);
            store(out + at, a);
        }
    }
    return 0;
}

/* C1, C2 of every row of a tile: gates [rows, 2]. */
static void gate(const Plan *p, const Layer *layer, int64_t rows, const float *H, float *gates) {
    for (int64_t i = 0; i < rows; i++) {
        vf C1 = splat(0.0f), C2 = C1;
        for (int64_t at = 0; at < p->D; at += VL) {
            vf h = load(H + i * p->D + at);
            C1 += h * load(layer->W_C + at);
            C2 += h * load(layer->W_C + p->D + at);
        }
        gates[2 * i] = sum(C1);
        gates[2 * i + 1] = sum(C2);
    }
    for (int64_t at = 0; at < 2 * rows; at += VL) store(gates + at, vsigmoid(load(gates + at)));
}

/* Rows to mean 0 and variance 1, as input of the MLP; scale and shift live in its weights. */
static void normalise(const Plan *p, int64_t rows, const float *H, act_t *out) {
    const float inverse = 1.0f / (float)p->width, padding = (float)(p->D - p->width);
    for (int64_t i = 0; i < rows; i++) {
        const float *row = H + i * p->D;
        vf total = splat(0.0f), squares = total;
        for (int64_t at = 0; at < p->D; at += VL) total += load(row + at);
        vf mean = group_sum(total, VL) * inverse;
        for (int64_t at = 0; at < p->D; at += VL) {
            vf centred = load(row + at) - mean;
            squares += centred * centred;
        }
        vf scale = rsqrt((group_sum(squares, VL) - padding * mean * mean) * inverse + 1e-5f);
        for (int64_t at = 0; at < p->D; at += VL) store_input(out + i * p->D + at, (load(row + at) - mean) * scale);
    }
}

INLINE void mix(const Plan *p, const int g, const float *KV, const float *Q, const uint8_t *mask, int64_t first,
                int64_t rows, const Scratch *s) {
    for (int64_t i = first; i < first + rows; i++) {
        act_t *out = s->H_cat + (i - first) * 2 * p->G;
        const float C1 = s->gates[2 * (i - first)], C2 = s->gates[2 * (i - first) + 1];
        const int32_t *nbr = p->idx + p->ptr[i];
        int64_t degree = p->ptr[i + 1] - p->ptr[i];
        if (mask) {
            int64_t present = 0;
            for (int64_t e = 0; e < degree; e++)
                if (mask[nbr[e]]) s->nbr[present++] = nbr[e];
            nbr = s->nbr;
            degree = mask[i] ? present : 0;
        }
        if (p->wp > VL)
            apply_wide(p, Q + i * 2 * p->G, s->state, C1, out);
        else
            apply_narrow(p, g, Q + i * 2 * p->G, s->state, C1, out);
        attend(p, g, Q + i * 2 * p->G + p->G, KV, nbr, degree, C2, s->scores, out + p->G);
    }
}

/* One body per group width: shuffles need constants. */
#define BY_GROUP(call)                                                                                             \
    switch (p->wp < VL ? p->wp : VL) {                                                                             \
    case 1: call(1); break;                                                                                        \
    case 2: call(2); break;                                                                                        \
    case 4: call(4); break;                                                                                        \
    case 8: call(VL < 8 ? VL : 8); break;                                                                          \
    default: call(VL); break;                                                                                      \
    }

static void mix_tile(const Plan *p, const float *KV, const float *Q, const uint8_t *mask, int64_t first, int64_t rows,
                     const Scratch *s) {
#define CALL(g) mix(p, g, KV, Q, mask, first, rows, s)
    BY_GROUP(CALL)
#undef CALL
}

static void accumulate_tile(const Plan *p, int64_t rows, float *K1V1, const uint8_t *mask, float *state) {
    if (p->wp > VL) {
        accumulate_wide(p, rows, K1V1, mask, state);
        return;
    }
#define CALL(g) accumulate_narrow(p, g, rows, K1V1, mask, state)
    BY_GROUP(CALL)
#undef CALL
}

/* From the attention of layer l to its output H, in place. */
static void finish_layer(const Plan *p, const Layer *layer, const float *KV, const Window *win, const uint8_t *mask,
                         int64_t first, int64_t rows, const Scratch *s) {
    const int64_t D = p->D, G = p->G, F = p->F;
    float *H = win->H + first * D;
    gate(p, layer, rows, H, s->gates);
    mix_tile(p, KV, win->Q, mask, first, rows, s);
    product(rows, 2 * G, D, s->H_cat, 2 * G, layer->W_H,
            (Finish){.residual = H, .residual_stride = D, .out = H, .out_stride = D});
    normalise(p, rows, H, s->normed);
    product(rows, D, F, s->normed, D, layer->W_1,
            (Finish){.bias = layer->b_1, .relu = 1, .input = s->hidden, .input_stride = F});
    product(rows, F, D, s->hidden, F, layer->W_2,
            (Finish){.bias = layer->b_2, .residual = H, .residual_stride = D, .out = H, .out_stride = D});
}

/* H as input of a product: itself in fp32, else a copy in the format of the products. */
static const act_t *as_input(const Plan *p, int64_t rows, const float *H, const Scratch *s) {
#if STEP == 1
    (void)p, (void)rows, (void)s;
    return H;
#else
    for (int64_t at = 0; at < rows * p->D; at += VL) store_input(s->H_in + at, load(H + at));
    return s->H_in;
#endif
}

static void project(const Plan *p, int64_t number, const Window *win, const uint8_t *mask, int64_t first, int64_t rows,
                    const Scratch *s) {
    const Layer *layer = p->layer + number;
    float *KV = win->KV[number % 2], *partial = win->partial[number % 2] + first / TILE * state_size(p);
    const int64_t D = p->D, C = 2 * p->G;
    const act_t *H = as_input(p, rows, win->H + first * D, s);
    product(rows, D, C, H, D, layer->W_Q, (Finish){.out = win->Q + first * C, .out_stride = C});
    product(rows, D, C, H, D, layer->W_KV, (Finish){.out = KV + first * C, .out_stride = C});
    product(rows, D, C, H, D, layer->W_K1V1, (Finish){.out = s->K1V1, .out_stride = C});
    accumulate_tile(p, rows, s->K1V1, mask ? mask + first : mask, partial);
}

/* Class probabilities of a tile; absent nodes get NaN. Returns whether all others are finite. */
static int classify(const Plan *p, const Window *win, const uint8_t *mask, int64_t first, int64_t rows, const Scratch *s,
                    float *probs) {
    float check = 0.0f;
    const act_t *H = as_input(p, rows, win->H + first * p->D, s);
    product(rows, p->D, VL, H, p->D, p->W_out, (Finish){.bias = p->b_out, .out = s->logits, .out_stride = VL});
    for (int64_t i = 0; i < rows; i++) {
        const float *logit = s->logits + i * VL;
        float *out = probs + (first + i) * p->classes, highest = logit[0], total = 0.0f;
        for (int64_t c = 1; c < p->classes; c++) highest = logit[c] > highest ? logit[c] : highest;
        vf e = vexp(load(logit) - highest);
        for (int64_t c = 0; c < p->classes; c++) total += e[c];
        const int present = !mask || mask[first + i];
        for (int64_t c = 0; c < p->classes; c++) out[c] = present ? e[c] / total : NAN;
        if (present) check += total * 0.0f;
    }
    return check == 0.0f;
}

/* One pass of one tile; returns 0, 1 + a node with broken features, or -1 when scores are not finite. */
static int64_t pass(const Plan *p, int64_t number, const Window *win, const float *x, const uint8_t *mask, int64_t tile,
                    const Scratch *s, float *probs) {
    const int64_t first = tile * TILE, rows = p->nodes - first < TILE ? p->nodes - first : TILE;
    if (number == 0) {
        int64_t broken = embed(p, x, mask, first, rows, win->H);
        if (broken) return broken;
    } else
        finish_layer(p, p->layer + number - 1, win->KV[(number - 1) % 2], win, mask, first, rows, s);
    if (number == p->layers) return classify(p, win, mask, first, rows, s, probs) ? 0 : -1;
    project(p, number, win, mask, first, rows, s);
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
EXPORT int64_t ghha_has_threads(void) {
#ifdef _OPENMP
    return 1;
#else
    return 0;
#endif
}

/* Bytes of workspace for `windows` windows at a time and `threads` threads; the caller aligns it to 64. */
EXPORT int64_t ghha_workspace_bytes(const Plan *p, int64_t windows, int64_t threads) {
    char *at = NULL;
    Window w;
    Scratch s;
    for (int64_t n = 0; n < windows; n++) cut_window(p, &at, &w);
    for (int64_t n = 0; n < threads; n++) cut_scratch(p, &at, &s);
    return at - (char *)NULL;
}

/* Tiles [from, to) of all passes of one window. With several threads on one window they meet between passes. */
static int64_t score_tiles(const Plan *p, const Window *win, const Scratch *s, const float *x, const uint8_t *mask,
                           int64_t from, int64_t to, int meet, float *probs) {
    int64_t present = p->nodes, status = 0;
    if (mask) {
        present = 0;
        for (int64_t i = 0; i < p->nodes; i++) present += mask[i] != 0;
    }
    for (int64_t number = 0; number <= p->layers; number++) {
        if (number > 0) reduce_state(p, win->partial[(number - 1) % 2], present, s->state);
        for (int64_t tile = from; tile < to && status == 0; tile++) status = pass(p, number, win, x, mask, tile, s, probs);
        if (meet) {
#ifdef _OPENMP
#pragma omp barrier
#endif
        }
    }
    return status;
}

/* x [batch, s, f], mask [batch, s] or NULL, probs [batch, s, classes]. Returns what `pass` returns; node numbers run
 * through the batch. `windows` > 1: every thread scores whole windows; else all threads share the tiles of one. */
EXPORT int64_t ghha_score(const Plan *p, const float *x, const uint8_t *mask, int64_t batch, int64_t windows,
                          int64_t threads, char *workspace, float *probs) {
    int64_t outcome = 0;
    const int64_t window_bytes = ghha_workspace_bytes(p, 1, 0), scratch_bytes = ghha_workspace_bytes(p, 0, 1);
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) if (threads > 1)
#endif
    {
#ifdef _OPENMP
        const int64_t me = omp_get_thread_num(), team = omp_get_num_threads();
#else
        const int64_t me = 0, team = 1;
#endif
        Window win;
        Scratch scratch;
        char *at = workspace + (windows > 1 ? me : 0) * window_bytes;
        cut_window(p, &at, &win);
        at = workspace + windows * window_bytes + me * scratch_bytes;
        cut_scratch(p, &at, &scratch);
        const int64_t tiles = num_tiles(p);
        const int64_t start = windows > 1 ? me : 0, stride = windows > 1 ? team : 1;
        const int64_t from = windows > 1 ? 0 : tiles * me / team, to = windows > 1 ? tiles : tiles * (me + 1) / team;
        for (int64_t b = start; b < batch; b += stride) {
            int64_t status = score_tiles(p, &win, &scratch, x + b * p->nodes * p->features,
                                         mask ? mask + b * p->nodes : mask, from, to, windows == 1 && team > 1,
                                         probs + b * p->nodes * p->classes);
            if (status != 0) {
#ifdef _OPENMP
#pragma omp critical
#endif
                if (outcome == 0) outcome = status > 0 ? b * p->nodes + status : status;
            }
        }
    }
    return outcome;
}
