/* What the caller hands over once: sizes, the graph, packed weights. Mirrored field by field in engine/native/plan.py.
 *
 * s nodes, f features, k width, p heads, w = k / 2p width of a sub-head. Padded sizes, zeros in the padding:
 *   D   k up to a multiple of VL: a row of H
 *   wp  w up to a power of two <= VL ("narrow"), or to a multiple of VL ("wide")
 *   G   p * wp up to a multiple of VL: one branch of Q, K or V
 *   F   hidden units of the MLP up to a multiple of VL */
#ifndef GHHA_PLAN_H
#define GHHA_PLAN_H

#include "formats.h"

/* Rows of a tile: enough to use a panel of weights many times, few enough that its activations stay in cache. */
#ifndef TILE
#define TILE 48
#endif

typedef struct {
    const wt_t *W_Q;   /* [D, 2G]  Q1 | Q2 / sqrt(w) */
    const wt_t *W_KV;  /* [D, 2G]  K2 | V2 */
    const wt_t *W_K1V1; /* [D, 2G]  K1 | V1: they only feed the state and never leave the tile */
    const wt_t *W_H;   /* [2G, D] */
    const wt_t *W_1;   /* [D, F]   LayerNorm's scale folded in */
    const wt_t *W_2;   /* [F, D] */
    const float *W_C;  /* [2, D]   gates */
    const float *b_1;  /* [F]      LayerNorm's shift folded in */
    const float *b_2;  /* [D] */
} Layer;

typedef struct {
    int64_t nodes, features, layers, classes, heads, max_degree;
    int64_t width, D, head_width, wp, G, F;
    int64_t rms;          /* 1: bounded global branch, 0: the printed sum */
    const int64_t *start;  /* [s] node i attends to idx[start[i]] ... idx[start[i] + degree[i] - 1]; cap applied */
    const int32_t *degree; /* [s] */
    const int32_t *idx;
    const int32_t *roles;  /* [s] row of the role embedding */
    const int8_t *kinds;   /* [s] which projection; -1 for a node without a signal */
    const float *role_embedding; /* [roles, D] */
    const float *projection;     /* [3, f, D] */
    const Layer *layer;          /* [layers] */
    const wt_t *W_out;           /* [D, VL] */
    const float *b_out;          /* [VL] */
} Plan;

/* Some rows of a window: neighbours in memory, or any nodes by number. Pointers "of the tile" hold its rows only. */
typedef struct {
    int64_t first, rows;
    const int32_t *nodes; /* [rows], or NULL for first, first + 1, ... */
} Tile;

INLINE int64_t node_of(const Tile *t, int64_t row) { return t->nodes ? t->nodes[row] : t->first + row; }

/* The state of one window between passes. What other tiles read exists twice, for this layer and the next, because
 * a tile may run ahead of them. */
typedef struct {
    float *H;          /* [s, D] */
    float *Q;          /* [s, 2G] Q1 | Q2 */
    float *KV[2];      /* [s, 2G] K2 | V2 */
    float *partial[2]; /* [tiles, G * wp] the global state, summed per tile */
} Window;

/* What one thread needs while it works on a tile. */
typedef struct {
    act_t *H_cat;  /* [TILE, 2G] */
    act_t *normed; /* [TILE, D] */
    act_t *hidden; /* [TILE, F] */
    act_t *H_in;   /* [TILE, D] H as input of a product; unused when act_t is float */
    float *K1V1;   /* [TILE, 2G] */
    float *gates;  /* [TILE, 2] */
    float *logits; /* [TILE, VL] */
    float *state;  /* [G * wp] */
    float *scores; /* [max_degree + 2, G or p * VL] */
    int32_t *nbr;  /* [max_degree] neighbours that are present */
} Scratch;

INLINE int64_t num_tiles(const Plan *p) { return (p->nodes + TILE - 1) / TILE; }
INLINE Tile tile_of(const Plan *p, int64_t number) {
    const int64_t first = number * TILE, left = p->nodes - first;
    return (Tile){.first = first, .rows = left < TILE ? left : TILE};
}
INLINE int64_t state_size(const Plan *p) { return p->G * p->wp; }

#endif
