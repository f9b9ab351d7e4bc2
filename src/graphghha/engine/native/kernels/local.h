/* The local branch: softmax attention of one node over its CSR neighbours, all heads at once, fp32.
 *
 * First the scores and their maximum, then exp, sum and the weighted values: two short loops over the neighbours,
 * no padded row and nothing gathered twice. Q2 arrives divided by sqrt(w). */
#ifndef GHHA_LOCAL_H
#define GHHA_LOCAL_H

#include "plan.h"

#define LOWEST (-3.0e38f)

INLINE vf blend_lowest_34(vf v) {
    /* lanes 2 and 3 of every four */
#define UPPER(l) ((l) % 4 < 2 ? 0 : -1)
    vi upper = LANES(UPPER);
#undef UPPER
    return (vf)(((vi)v & ~upper) | ((vi)splat(LOWEST) & upper));
}

/* Heads four wide, the common case (width 64, 8 heads). The scores of two neighbours and two vectors of heads share
 * one vector, in each four lanes [n0 v0, n0 v1, n1 v0, n1 v1], so that no exp is computed twice. */
INLINE void attend_fours(const Plan *p, const float *Q2, const float *KV, const int32_t *nbr, int64_t degree, float C2,
                         float *scores, act_t *out) {
    const int64_t G = p->G, row = 2 * G;
    for (int64_t at = 0; at < G; at += 2 * VL) {
        vf q0 = load(Q2 + at), q1 = load(Q2 + at + VL), highest = splat(LOWEST);
        for (int64_t e = 0; e < degree; e += 2) {
            /* an odd last neighbour is paired with itself and its double then silenced */
            const int64_t twin = e + 1 < degree;
            const float *K0 = KV + nbr[e] * row + at, *K1 = KV + nbr[e + twin] * row + at;
            vf S = pair_sums(pair_sums(q0 * load(K0), q1 * load(K0 + VL)), pair_sums(q0 * load(K1), q1 * load(K1 + VL)));
            if (!twin) S = blend_lowest_34(S);
            highest = vmax(highest, S);
            store(scores + e / 2 * VL, S);
        }
        highest = vmax(highest, rotate(highest, 4, 2));
        vf total = splat(0.0f), a0 = total, a1 = total, b0 = total, b1 = total;
        for (int64_t e = 0; e < degree; e += 2) {
            const float *V0 = KV + nbr[e] * row + G + at, *V1 = KV + nbr[e + (e + 1 < degree)] * row + G + at;
            vf A = vexp(load(scores + e / 2 * VL) - highest);
            total += A;
            a0 += spread4(A, 0) * load(V0);
            a1 += spread4(A, 1) * load(V0 + VL);
            b0 += spread4(A, 2) * load(V1);
            b1 += spread4(A, 3) * load(V1 + VL);
        }
        total += rotate(total, 4, 2);
        vf share = C2 / total;
        store_input(out + at, (a0 + b0) * spread4(share, 0));
        store_input(out + at + VL, (a1 + b1) * spread4(share, 1));
    }
}

/* Any other head: a unit is one vector of narrow heads, or the vectors of one wide head; every lane carries its head's score. */
INLINE void attend_units(const Plan *p, const int g, const float *Q2, const float *KV, const int32_t *nbr, int64_t degree,
                         float C2, float *scores, act_t *out) {
    const int64_t G = p->G, row = 2 * G, span = p->wp > VL ? p->wp : VL;
    for (int64_t at = 0; at < G; at += span) {
        vf highest = splat(LOWEST), total = splat(0.0f);
        for (int64_t e = 0; e < degree; e++) {
            const float *K = KV + nbr[e] * row + at;
            vf S = splat(0.0f);
            for (int64_t d = 0; d < span; d += VL) S += load(Q2 + at + d) * load(K + d);
            S = group_sum(S, g);
            highest = vmax(highest, S);
            store(scores + e * VL, S);
        }
        for (int64_t e = 0; e < degree; e++) {
            vf A = vexp(load(scores + e * VL) - highest);
            total += A;
            store(scores + e * VL, A);
        }
        vf share = C2 / total;
        for (int64_t d = 0; d < span; d += VL) {
            vf H2 = splat(0.0f);
            for (int64_t e = 0; e < degree; e++) H2 += load(scores + e * VL) * load(KV + nbr[e] * row + G + at + d);
            store_input(out + at + d, H2 * share);
        }
    }
}

/* H2 = C2 * Softmax(Q2 K2^T) V2 of one node, written as input of W_H; zero without neighbours. */
INLINE void attend(const Plan *p, const int g, const float *Q2, const float *KV, const int32_t *nbr, int64_t degree,
                   float C2, float *scores, act_t *out) {
    if (degree == 0)
        for (int64_t at = 0; at < p->G; at += VL) store_input(out + at, splat(0.0f));
    else if (g == 4 && p->wp == 4 && p->G % (2 * VL) == 0)
        attend_fours(p, Q2, KV, nbr, degree, C2, scores, out);
    else
        attend_units(p, g, Q2, KV, nbr, degree, C2, scores, out);
}

#endif
