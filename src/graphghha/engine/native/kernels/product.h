/* C = A B for a tile of rows: register-blocked, with bias, residual and ReLU applied before anything is stored.
 *
 * A [rows, depth] row-major act_t; B packed in panels of PANEL columns, each [depth / STEP][columns][STEP].
 * A block of MR rows and NV vectors keeps all its sums in registers for the whole depth. */
#ifndef GHHA_PRODUCT_H
#define GHHA_PRODUCT_H

#include "amx.h"
#include "formats.h"

/* 24 sums + 4 weights + inputs fill the 32 registers of AVX-512; AVX2 has 16, so 12 sums */
#if VL == 16
#define MR 6
#define NV 4
#else
#define MR 6
#define NV 2
#endif
#define PANEL (NV * VL)

typedef struct {
    const float *bias;     /* [columns] or NULL */
    const float *residual; /* [rows, residual_stride] or NULL; may be out itself */
    int64_t residual_stride;
    int relu;
    float *out; /* [rows, out_stride] or NULL */
    int64_t out_stride;
    act_t *input; /* the same values as input of a next product, or NULL */
    int64_t input_stride;
} Finish;

INLINE void finish(const Finish *f, int64_t row, int64_t column, vf c) {
    if (f->bias) c += load(f->bias + column);
    if (f->residual) c += load(f->residual + row * f->residual_stride + column);
    if (f->relu) c = relu(c);
    if (f->out) store(f->out + row * f->out_stride + column, c);
    if (f->input) store_input(f->input + row * f->input_stride + column, c);
}

INLINE void block(const int mr, const int nv, int64_t depth, const act_t *A, int64_t stride, const wt_t *B,
                  int64_t row, int64_t column, const Finish *f) {
    vf acc[MR][NV];
#pragma GCC unroll 8
    for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
        for (int v = 0; v < nv; v++) acc[i][v] = splat(0.0f);
    for (int64_t d = 0; d < depth; d += STEP) {
        weights_t w[NV];
#pragma GCC unroll 8
        for (int v = 0; v < nv; v++) w[v] = load_weights(B + (d * nv + v * STEP) * VL);
#pragma GCC unroll 8
        for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
            for (int v = 0; v < nv; v++) acc[i][v] = step(acc[i][v], load_input(A + i * stride + d), w[v]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < mr; i++)
#pragma GCC unroll 8
        for (int v = 0; v < nv; v++) finish(f, row + i, column + v * VL, acc[i][v]);
}

#define BLOCK(mr, nv)                                                                                              \
    static void block_##mr##_##nv(int64_t depth, const act_t *A, int64_t stride, const wt_t *B, int64_t row,       \
                                  int64_t column, const Finish *f) {                                               \
        block(mr, nv, depth, A, stride, B, row, column, f);                                                        \
    }
#define BLOCKS(nv) BLOCK(1, nv) BLOCK(2, nv) BLOCK(3, nv) BLOCK(4, nv) BLOCK(5, nv) BLOCK(6, nv)
typedef void (*Block)(int64_t, const act_t *, int64_t, const wt_t *, int64_t, int64_t, const Finish *);
#define ROW(nv) {block_1_##nv, block_2_##nv, block_3_##nv, block_4_##nv, block_5_##nv, block_6_##nv}
BLOCKS(1)
BLOCKS(2)
#if NV == 4
BLOCKS(3)
BLOCKS(4)
static const Block BLOCK_TABLE[NV][MR] = {ROW(1), ROW(2), ROW(3), ROW(4)};
#else
static const Block BLOCK_TABLE[NV][MR] = {ROW(1), ROW(2)};
#endif

#if HAS_AMX
/* A panel on the matrix unit, 32 x 32 sums at a time. */
static void amx_panel(int64_t rows, int64_t depth, int64_t columns, const act_t *A, int64_t stride, const wt_t *B,
                      int64_t column, const Finish *f) {
    _Alignas(64) float C[32 * 32];
    for (int64_t n = 0; n < columns; n += 32)
        for (int64_t row = 0; row < rows; row += 32) {
            const int64_t height = rows - row < 32 ? rows - row : 32, width = columns - n < 32 ? columns - n : 32;
            amx_block(depth, A + row * stride, stride, B + 2 * n, columns, height > 16, width > 16, C);
            for (int64_t i = 0; i < height; i++)
                for (int64_t at = 0; at < width; at += VL) finish(f, row + i, column + n + at, load(C + i * 32 + at));
        }
}
#endif

static void product(int64_t rows, int64_t depth, int64_t columns, const act_t *A, int64_t stride, const wt_t *B,
                    Finish f) {
    for (int64_t column = 0; column < columns; column += PANEL) {
        int64_t wide = columns - column < PANEL ? columns - column : PANEL;
        const wt_t *panel = B + depth * column;
#if HAS_AMX
        if (depth % 32 == 0 && amx_granted()) {
            amx_panel(rows, depth, wide, A, stride, panel, column, &f);
            continue;
        }
#endif
        int64_t blocks = (rows + MR - 1) / MR; /* evenly sized: a last block of one row would wait on its own sums */
        for (int64_t row = 0; row < rows; blocks--) {
            int64_t mr = (rows - row + blocks - 1) / blocks;
            BLOCK_TABLE[wide / VL - 1][mr - 1](depth, A + row * stride, stride, panel, row, column, &f);
            row += mr;
        }
    }
}

#endif
