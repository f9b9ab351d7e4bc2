/* Vectors of VL floats in the compiler's own vector types: the same source runs on AVX-512, AVX2 and anything else.
 *
 * Only what the types cannot say (max, reciprocal square root, 16-bit formats) names an instruction set. */
#ifndef GHHA_VEC_H
#define GHHA_VEC_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define VL 16
#define LANES(f) {f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), f(15)}
#elif defined(__AVX2__) && defined(__FMA__)
#define VL 8
#define LANES(f) {f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)}
#else
#define VL 4
#define LANES(f) {f(0), f(1), f(2), f(3)}
#endif

#define INLINE static inline __attribute__((always_inline))
#define STAGE static __attribute__((noinline)) /* works on a whole tile: keeps its name in a profile */

typedef float vf __attribute__((vector_size(4 * VL), may_alias));
typedef int32_t vi __attribute__((vector_size(4 * VL), may_alias));
typedef uint32_t vu __attribute__((vector_size(4 * VL), may_alias)); /* where a sum may wrap around */

INLINE vf load(const float *p) { return *(const vf *)p; }
INLINE void store(float *p, vf v) { *(vf *)p = v; }
INLINE vf splat(float x) { return x - (vf){0}; }

INLINE vf vmax(vf a, vf b) {
#if VL == 16
    return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif VL == 8
    return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#else
    vi m = a > b;
    return (vf)(((vi)a & m) | ((vi)b & ~m));
#endif
}

INLINE vf vmin(vf a, vf b) {
#if VL == 16
    return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif VL == 8
    return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#else
    vi m = a < b;
    return (vf)(((vi)a & m) | ((vi)b & ~m));
#endif
}

/* zero first: x86 returns the second operand when one is NaN, and a NaN must stay visible */
INLINE vf relu(vf x) { return vmax(splat(0.0f), x); }
INLINE vf relu2(vf x) { x = relu(x); return x * x; }

/* 1/sqrt(x): the hardware's estimate and one Newton step, about 1e-7 relative; a true root would cost ten times as much */
INLINE vf rsqrt(vf x) {
#if VL == 16
    vf y = (vf)_mm512_rsqrt14_ps((__m512)x);
#elif VL == 8
    vf y = (vf)_mm256_rsqrt_ps((__m256)x);
#else
    vf y = x;
    for (int l = 0; l < VL; l++) y[l] = 1.0f / sqrtf(x[l]);
    return y;
#endif
#if VL > 4
    return y * (1.5f - 0.5f * x * y * y);
#endif
}

/* exp by 2^n * polynomial(r), |r| <= ln2/2; about 1e-7 relative. Below -87 it returns exp(-87). */
INLINE vf vexp(vf x) {
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer held in the low bits */
    x = vmax(splat(-87.0f), x);
    vf t = x * 1.44269504f + magic;
    vf n = t - magic;
    vf r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    vf y = 1.9875691500e-4f * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * (r * r) + r + 1.0f;
    /* unsigned, because lanes beyond the classes hold anything and may wrap around; nobody reads them */
    vu bits = ((vu)t - (vu)splat(magic)) << 23;
    return (vf)((vu)y + bits);
}

INLINE vf vsigmoid(vf x) {
    /* exp of a value <= 0 only, so nothing overflows: sigmoid(x) = 1/(1+e) or e/(1+e), e = exp(-|x|) */
    vf e = vexp((vf)((vi)x | (int32_t)0x80000000));
    vi negative = x < 0.0f;
    vf top = (vf)(((vi)e & negative) | ((vi)splat(1.0f) & ~negative));
    return top / (1.0f + e);
}

#ifdef __clang__
INLINE vf shuffle(vf a, vf b, vi m) {
    vf out;
    for (int l = 0; l < VL; l++) out[l] = m[l] < VL ? a[m[l]] : b[m[l] - VL];
    return out;
}
#else
#define shuffle(a, b, m) __builtin_shuffle(a, b, m)
#endif

/* Within each group of g neighbouring lanes: lane l reads lane (l + r) mod g. g is a constant after inlining. */
INLINE vf rotate(vf v, const int g, const int r) {
#define ROTATED(l) ((l) / g * g + ((l) % g + r) % g)
    vi m = LANES(ROTATED);
#undef ROTATED
    return r % g == 0 ? v : shuffle(v, v, m);
}

/* Every lane gets the sum over its group of g lanes. */
INLINE vf group_sum(vf v, const int g) {
    for (int r = g / 2; r > 0; r /= 2) v += rotate(v, g, r);
    return v;
}

INLINE float sum(vf v) { return group_sum(v, VL)[0]; }

/* Within each four lanes: lane n of every four, copied to all of them. */
INLINE vf spread4(vf v, const int n) {
#define SPREAD(l) ((l) / 4 * 4 + n)
    vi m = LANES(SPREAD);
#undef SPREAD
    return shuffle(v, v, m);
}

/* Within each four lanes: [a0+a1, a2+a3, b0+b1, b2+b3]. Twice, it sums four vectors' groups of four into one vector. */
INLINE vf pair_sums(vf a, vf b) {
#define EVEN(l) ((l) / 4 * 4 + (l) % 2 * 2 + ((l) % 4 / 2) * VL)
#define ODD(l) (EVEN(l) + 1)
    vi even = LANES(EVEN), odd = LANES(ODD);
#undef ODD
#undef EVEN
    return shuffle(a, b, even) + shuffle(a, b, odd);
}

#endif
