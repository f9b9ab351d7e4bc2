/* Products on the matrix unit (AMX, bf16): 16 x 16 sums from 16 x 32 inputs and 32 x 16 weights in one instruction.
 *
 * Packed panels already have the layout the unit wants: [depth / 2][columns][2]. Inputs are scratch of whole tiles, so
 * reading up to 15 rows past the last one is safe; those rows are computed and dropped. The operating system must
 * grant the unit once per process. With GHHA_AMX_EMULATED plain C stands in for the instructions, for tests. */
#ifndef GHHA_AMX_H
#define GHHA_AMX_H

#include "formats.h"

#if defined(GHHA_AMX_EMULATED) && STEP == 2
#define HAS_AMX 1
static _Thread_local struct { float f[16][16]; uint16_t h[16][32]; } emulated[8];
INLINE float widen(uint16_t x) {
    uint32_t bits = (uint32_t)x << 16;
    float out;
    memcpy(&out, &bits, 4);
    return out;
}
#define AMX_ZERO(t) memset(emulated[t].f, 0, sizeof emulated[t].f)
#define AMX_LOAD(t, from, stride)                                                                               \
    for (int r_ = 0; r_ < 16; r_++) memcpy(emulated[t].h[r_], (const char *)(from) + r_ * (stride), 64)
#define AMX_STORE(t, to, stride)                                                                                \
    for (int r_ = 0; r_ < 16; r_++) memcpy((char *)(to) + r_ * (stride), emulated[t].f[r_], 64)
static void emulated_dot(int c, int a, int b) {
    for (int m = 0; m < 16; m++)
        for (int k = 0; k < 32; k++)
            for (int n = 0; n < 16; n++)
                emulated[c].f[m][n] += widen(emulated[a].h[m][k]) * widen(emulated[b].h[k / 2][2 * n + k % 2]);
}
#define AMX_DOT(c, a, b) emulated_dot(c, a, b)
#define AMX_CONFIGURE(config) (void)(config)
#define AMX_RELEASE() (void)0
static int amx_granted(void) { return 1; }
#elif defined(__AMX_BF16__) && defined(__linux__) && STEP == 2
#define HAS_AMX 1
#include <sys/syscall.h>
#include <unistd.h>
#define AMX_ZERO(t) _tile_zero(t)
#define AMX_LOAD(t, from, stride) _tile_loadd(t, from, stride)
#define AMX_STORE(t, to, stride) _tile_stored(t, to, stride)
#define AMX_DOT(c, a, b) _tile_dpbf16ps(c, a, b)
#define AMX_CONFIGURE(config) _tile_loadconfig(config)
#define AMX_RELEASE() _tile_release()
/* arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA); asked once, answered for all threads to come */
static int amx_granted(void) {
    static int answer = -1;
    int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (known < 0) {
        known = syscall(SYS_arch_prctl, 0x1023, 18) == 0;
        __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
    }
    return known;
}
#else
#define HAS_AMX 0
static int amx_granted(void) { return 0; }
#endif

/* Every thread configures its unit before it works on tiles, and frees it afterwards. */
static void amx_enter(void) {
#if HAS_AMX
    if (!amx_granted()) return;
    struct { uint8_t palette, start_row, reserved[14]; uint16_t bytes[16]; uint8_t rows[16]; } config = {.palette = 1};
    for (int t = 0; t < 8; t++) {
        config.bytes[t] = 64;
        config.rows[t] = 16;
    }
    __asm__ volatile("" : : "r"(&config) : "memory"); /* the intrinsic admits to reading the first word only */
    AMX_CONFIGURE(&config);
#endif
}

static void amx_leave(void) {
#if HAS_AMX
    if (amx_granted()) AMX_RELEASE();
#endif
}

#if HAS_AMX
/* 32 rows x 32 columns of A B into C [32, 32]: four sums, two inputs, two weights fill the eight tiles. */
STAGE void amx_block(int64_t depth, const act_t *A, int64_t stride, const wt_t *B, int64_t columns, int two_rows,
                     int two_columns, float *C) {
    const act_t *A1 = two_rows ? A + 16 * stride : A;
    const wt_t *B1 = two_columns ? B + 32 : B;
    __asm__ volatile("" : : : "memory"); /* the loads below do not tell the compiler that they read memory */
    AMX_ZERO(0);
    AMX_ZERO(1);
    AMX_ZERO(2);
    AMX_ZERO(3);
    for (int64_t d = 0; d < depth; d += 32) {
        AMX_LOAD(4, A + d, 2 * stride);
        AMX_LOAD(5, A1 + d, 2 * stride);
        AMX_LOAD(6, B + d * columns, 4 * columns);
        AMX_LOAD(7, B1 + d * columns, 4 * columns);
        AMX_DOT(0, 4, 6);
        AMX_DOT(1, 4, 7);
        AMX_DOT(2, 5, 6);
        AMX_DOT(3, 5, 7);
    }
    AMX_STORE(0, C, 128);
    AMX_STORE(1, C + 16, 128);
    AMX_STORE(2, C + 16 * 32, 128);
    AMX_STORE(3, C + 16 * 32 + 16, 128);
}
#endif

#endif
