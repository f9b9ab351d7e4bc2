/* How weights and the inputs of products are stored, and one step of a product in that format.
 *
 *   fp32               weights fp32, inputs fp32
 *   GHHA_FP16 + F16C   weights fp16, widened when loaded; inputs and sums fp32
 *   GHHA_BF16          weights bf16, inputs bf16 with AVX512-BF16 (two products per lane and step; see also amx.h),
 *                      else fp32; sums fp32
 *
 * act_t is an input of a product; a step consumes STEP of them. Packed weights: [panel][row / STEP][column][STEP]. */
#ifndef GHHA_FORMATS_H
#define GHHA_FORMATS_H

#include "vec.h"

enum { FORMAT_FP32, FORMAT_FP16, FORMAT_BF16, FORMAT_BF16_PAIRS };

#if defined(GHHA_BF16) && defined(__AVX512BF16__)
#define FORMAT FORMAT_BF16_PAIRS
#define STEP 2
typedef uint16_t wt_t;
typedef uint16_t act_t;
typedef vi weights_t;
INLINE weights_t load_weights(const wt_t *p) { return *(const vi *)p; }
INLINE vi load_input(const act_t *p) {
    int32_t pair;
    memcpy(&pair, p, 4);
    return pair - (vi){0};
}
INLINE vf step(vf acc, vi input, weights_t w) {
    return (vf)_mm512_dpbf16_ps((__m512)acc, (__m512bh)input, (__m512bh)w);
}
INLINE void store_input(act_t *p, vf v) { _mm256_store_si256((__m256i *)p, (__m256i)_mm512_cvtneps_pbh((__m512)v)); }

#else
#define STEP 1
typedef float act_t;
typedef vf weights_t;
INLINE vf load_input(const act_t *p) { return splat(*p); }
INLINE vf step(vf acc, vf input, weights_t w) { return acc + input * w; }
INLINE void store_input(act_t *p, vf v) { store(p, v); }

#if defined(GHHA_BF16)
#define FORMAT FORMAT_BF16
typedef uint16_t wt_t;
typedef uint16_t vh __attribute__((vector_size(2 * VL), may_alias));
INLINE weights_t load_weights(const wt_t *p) { return (vf)(__builtin_convertvector(*(const vh *)p, vi) << 16); }
#elif defined(GHHA_FP16) && VL == 16
#define FORMAT FORMAT_FP16
typedef uint16_t wt_t;
INLINE weights_t load_weights(const wt_t *p) { return (vf)_mm512_cvtph_ps(_mm256_load_si256((const __m256i *)p)); }
#elif defined(GHHA_FP16) && VL == 8 && defined(__F16C__)
#define FORMAT FORMAT_FP16
typedef uint16_t wt_t;
INLINE weights_t load_weights(const wt_t *p) { return (vf)_mm256_cvtph_ps(_mm_load_si128((const __m128i *)p)); }
#else
#define FORMAT FORMAT_FP32 /* fp16 without F16C: the caller rounds the weights to fp16, the sums are the same */
typedef float wt_t;
INLINE weights_t load_weights(const wt_t *p) { return load(p); }
#endif
#endif

#endif
