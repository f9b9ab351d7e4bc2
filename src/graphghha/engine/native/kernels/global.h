/* The global branch: linear attention through one small state per head.
 *
 * A head's state is S[a][b] = sum over nodes of phi(K1)[a] V1[b], phi = ReLU^2. Narrow heads lie several to a
 * vector, so S is kept by diagonals: row r of the state holds S[(b + r) mod w][b] at lane b, and one rotation
 * within the head lines up what has to be multiplied. Wide heads span whole vectors and keep S row by row. */
#ifndef GHHA_GLOBAL_H
#define GHHA_GLOBAL_H

#include "plan.h"

#define RMS_EPS 1e-6f
#define QUERY_LIMIT 1e3f /* as in nn/ops.py: a hostile node must not square its way to infinity */

/* The limit first: x86 returns the second operand when one is NaN, and a NaN must stay visible. */
INLINE vf query(const Plan *p, vf Q1) {
    vf Q = relu2(Q1);
    return p->rms ? vmin(splat(QUERY_LIMIT), Q) : Q;
}

/* Add the rows of one tile to its partial state. g: lanes of a vector that belong to one head. */
INLINE void accumulate_narrow(const Plan *p, const int g, int64_t rows, const float *K1V1, const uint8_t *mask,
                              float *state) {
    const float inverse_w = 1.0f / (float)p->head_width;
    for (int64_t at = 0; at < p->G; at += VL) {
        vf S[VL];
#pragma GCC unroll 16
        for (int r = 0; r < g; r++) S[r] = splat(0.0f);
        for (int64_t i = 0; i < rows; i++) {
            if (mask && !mask[i]) continue;
            vf K = relu2(load(K1V1 + i * 2 * p->G + at));
            vf V = load(K1V1 + i * 2 * p->G + p->G + at);
            if (p->rms) {
                K *= rsqrt(group_sum(K * K, g) * inverse_w + RMS_EPS);
                V *= rsqrt(group_sum(V * V, g) * inverse_w + RMS_EPS);
            }
#pragma GCC unroll 16
            for (int r = 0; r < g; r++) S[r] += rotate(K, g, r) * V;
        }
#pragma GCC unroll 16
        for (int r = 0; r < g; r++) store(state + r * p->G + at, S[r]);
    }
}

INLINE vf phi_if(vf x, int squared) { return squared ? relu2(x) : x; }

INLINE float rms_scale(const float *x, int squared, const Plan *p) {
    vf squares = splat(0.0f);
    for (int64_t a = 0; a < p->wp; a += VL) {
        vf v = phi_if(load(x + a), squared);
        squares += v * v;
    }
    return 1.0f / sqrtf(sum(squares) / (float)p->head_width + RMS_EPS);
}

INLINE float phi(float x) { return x > 0.0f ? x * x : 0.0f; }

static void accumulate_wide(const Plan *p, int64_t rows, const float *K1V1, const uint8_t *mask, float *state) {
    const int64_t w = p->wp;
    memset(state, 0, sizeof(float) * state_size(p));
    for (int64_t i = 0; i < rows; i++) {
        if (mask && !mask[i]) continue;
        for (int64_t head = 0; head < p->heads; head++) {
            const float *K = K1V1 + i * 2 * p->G + head * w, *V = K + p->G;
            float *S = state + head * w * w, scale = p->rms ? rms_scale(K, 1, p) * rms_scale(V, 0, p) : 1.0f;
            for (int64_t a = 0; a < w; a++)
                for (int64_t b = 0; b < w; b += VL)
                    store(S + a * w + b, load(S + a * w + b) + phi(K[a]) * scale * load(V + b));
        }
    }
}

/* One state from the tiles' partial ones, always in the same order: the sum does not depend on the threads. */
static void reduce_state(const Plan *p, const float *partial, int64_t present, float *state) {
    const float share = p->rms ? 1.0f / (float)(present > 0 ? present : 1) : 1.0f;
    for (int64_t at = 0; at < state_size(p); at += VL) {
        vf total = splat(0.0f);
        for (int64_t t = 0; t < num_tiles(p); t++) total += load(partial + t * state_size(p) + at);
        store(state + at, total * share);
    }
}

/* H1 = C1 * phi(Q1) S, written as input of W_H. */
INLINE void apply_narrow(const Plan *p, const int g, const float *Q1, const float *state, float C1, act_t *out) {
    for (int64_t at = 0; at < p->G; at += VL) {
        vf Q = query(p, load(Q1 + at)) * C1, H1 = splat(0.0f);
#pragma GCC unroll 16
        for (int r = 0; r < g; r++) H1 += rotate(Q, g, r) * load(state + r * p->G + at);
        store_input(out + at, H1);
    }
}

static void apply_wide(const Plan *p, const float *Q1, const float *state, float C1, act_t *out) {
    const int64_t w = p->wp;
    for (int64_t head = 0; head < p->heads; head++)
        for (int64_t b = 0; b < w; b += VL) {
            vf H1 = splat(0.0f);
            for (int64_t a = 0; a < w; a++) {
                const float Q = phi(Q1[head * w + a]);
                H1 += (p->rms && Q > QUERY_LIMIT ? QUERY_LIMIT : Q) * load(state + (head * w + a) * w + b);
            }
            store_input(out + head * w + b, H1 * C1);
        }
}

#endif
