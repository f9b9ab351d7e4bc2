/* The stages of a pass, each on the rows of one tile. H, Q, KV, K1V1 are pointers of the tile unless called "all". */
#ifndef GHHA_STAGES_H
#define GHHA_STAGES_H

#include "global.h"
#include "local.h"
#include "plan.h"
#include "product.h"

#define FEATURE_LIMIT 1e4f /* as in nn/adu.py: scaled features are of order one, beyond this lies a liar */

INLINE float limited(float x) { return x > FEATURE_LIMIT ? FEATURE_LIMIT : x < -FEATURE_LIMIT ? -FEATURE_LIMIT : x; }

/* H(0); returns 1 + the first node whose features are not finite, else 0. x, mask: of all nodes. */
STAGE int64_t embed(const Plan *p, const float *x, const uint8_t *mask, const Tile *tile, float *H) {
    for (int64_t i = 0; i < tile->rows; i++) {
        const int64_t node = node_of(tile, i);
        const float *role = p->role_embedding + p->roles[node] * p->D;
        float *out = H + i * p->D;
        /* features of absent or unmeasured nodes are never read */
        const int64_t count = p->kinds[node] >= 0 && (!mask || mask[node]) ? p->features : 0;
        const float *features = x + node * p->features, *W = p->projection + p->kinds[node] * p->features * p->D;
        float broken = 0.0f;
        for (int64_t j = 0; j < count; j++) broken += features[j] * 0.0f;
        if (broken != 0.0f) return node + 1;
        int64_t at = 0;
        for (; at + 4 * VL <= p->D; at += 4 * VL) {
            vf a = load(role + at), b = load(role + at + VL), c = load(role + at + 2 * VL), d = load(role + at + 3 * VL);
            for (int64_t j = 0; j < count; j++) {
                const float *w = W + j * p->D + at;
                const float f = limited(features[j]);
                a += f * load(w);
                b += f * load(w + VL);
                c += f * load(w + 2 * VL);
                d += f * load(w + 3 * VL);
            }
            store(out + at, a);
            store(out + at + VL, b);
            store(out + at + 2 * VL, c);
            store(out + at + 3 * VL, d);
        }
        for (; at < p->D; at += VL) {
            vf a = load(role + at);
            for (int64_t j = 0; j < count; j++) a += limited(features[j]) * load(W + j * p->D + at);
            store(out + at, a);
        }
    }
    return 0;
}

/* C1, C2 of every row: gates [rows, 2]. */
STAGE void gate(const Plan *p, const Layer *layer, int64_t rows, const float *H, float *gates) {
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
STAGE void normalise(const Plan *p, int64_t rows, const float *H, act_t *out) {
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

/* Both branches, gated: H_cat of the tile. all_KV, mask: of all nodes. */
INLINE void mix(const Plan *p, const int g, const float *all_KV, const float *state, const float *Q, const uint8_t *mask,
                const Tile *tile, const Scratch *s) {
    for (int64_t i = 0; i < tile->rows; i++) {
        const int64_t node = node_of(tile, i);
        act_t *out = s->H_cat + i * 2 * p->G;
        const float C1 = s->gates[2 * i], C2 = s->gates[2 * i + 1], *Q1 = Q + i * 2 * p->G, *Q2 = Q1 + p->G;
        const int32_t *nbr = p->idx + p->start[node];
        int64_t degree = p->degree[node];
        if (mask) {
            int64_t present = 0;
            for (int64_t e = 0; e < degree; e++)
                if (mask[nbr[e]]) s->nbr[present++] = nbr[e];
            nbr = s->nbr;
            degree = mask[node] ? present : 0;
        }
        if (p->wp > VL)
            apply_wide(p, Q1, state, C1, out);
        else
            apply_narrow(p, g, Q1, state, C1, out);
        attend(p, g, Q2, all_KV, nbr, degree, C2, s->scores, out + p->G);
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

STAGE void mix_tile(const Plan *p, const float *all_KV, const float *state, const float *Q, const uint8_t *mask,
                    const Tile *tile, const Scratch *s) {
#define CALL(g) mix(p, g, all_KV, state, Q, mask, tile, s)
    BY_GROUP(CALL)
#undef CALL
}

/* The tile's share of the global state. mask: of the tile. */
STAGE void accumulate_tile(const Plan *p, int64_t rows, const float *K1V1, const uint8_t *mask, float *state) {
    if (p->wp > VL) {
        accumulate_wide(p, rows, K1V1, mask, state);
        return;
    }
#define CALL(g) accumulate_narrow(p, g, rows, K1V1, mask, state)
    BY_GROUP(CALL)
#undef CALL
}

/* From a layer's input H and its Q, K, V to its output, in place. */
STAGE void finish_layer(const Plan *p, const Layer *layer, const float *all_KV, const float *state, const float *Q,
                        const uint8_t *mask, const Tile *tile, const Scratch *s, float *H) {
    const int64_t rows = tile->rows, D = p->D, G = p->G, F = p->F;
    gate(p, layer, rows, H, s->gates);
    mix_tile(p, all_KV, state, Q, mask, tile, s);
    product(rows, 2 * G, D, s->H_cat, 2 * G, layer->W_H,
            (Finish){.residual = H, .residual_stride = D, .out = H, .out_stride = D});
    normalise(p, rows, H, s->normed);
    product(rows, D, F, s->normed, D, layer->W_1,
            (Finish){.bias = layer->b_1, .relu = 1, .input = s->hidden, .input_stride = F});
    product(rows, F, D, s->hidden, F, layer->W_2,
            (Finish){.bias = layer->b_2, .residual = H, .residual_stride = D, .out = H, .out_stride = D});
}

/* H as input of a product: itself in fp32, else a copy in the format of the products. */
INLINE const act_t *as_input(const Plan *p, int64_t rows, const float *H, const Scratch *s) {
#if STEP == 1
    (void)p, (void)rows, (void)s;
    return H;
#else
    for (int64_t at = 0; at < rows * p->D; at += VL) store_input(s->H_in + at, load(H + at));
    return s->H_in;
#endif
}

STAGE void project(const Plan *p, const Layer *layer, int64_t rows, const float *H, const Scratch *s, float *Q, float *KV,
                   float *K1V1) {
    const int64_t D = p->D, C = 2 * p->G;
    const act_t *input = as_input(p, rows, H, s);
    product(rows, D, C, input, D, layer->W_Q, (Finish){.out = Q, .out_stride = C});
    product(rows, D, C, input, D, layer->W_KV, (Finish){.out = KV, .out_stride = C});
    product(rows, D, C, input, D, layer->W_K1V1, (Finish){.out = K1V1, .out_stride = C});
}

/* Class probabilities into those of all nodes; NaN for absent ones. Returns whether all others are finite. */
STAGE int classify(const Plan *p, const float *H, const uint8_t *mask, const Tile *tile, const Scratch *s, float *probs) {
    float check = 0.0f;
    product(tile->rows, p->D, VL, as_input(p, tile->rows, H, s), p->D, p->W_out,
            (Finish){.bias = p->b_out, .out = s->logits, .out_stride = VL});
    for (int64_t i = 0; i < tile->rows; i++) {
        const int64_t node = node_of(tile, i);
        const float *logit = s->logits + i * VL;
        float *out = probs + node * p->classes, highest = logit[0], total = 0.0f;
        for (int64_t c = 1; c < p->classes; c++) highest = logit[c] > highest ? logit[c] : highest;
        vf e = vexp(load(logit) - highest);
        for (int64_t c = 0; c < p->classes; c++) total += e[c];
        const int present = !mask || mask[node];
        for (int64_t c = 0; c < p->classes; c++) out[c] = present ? e[c] / total : NAN;
        if (present) check += total * 0.0f;
    }
    return check == 0.0f;
}

#endif
