/* Which instructions the processor has, and which of them the environment allows. */
#include <stdlib.h>

#include "base/base.h"
#include "kernel/isa.h"

tw__isa tw__isa_best(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return TW_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return TW_ISA_AVX2;
#endif
    return TW_ISA_PLAIN;
}

static tw__isa choose(void)
{
    static const char *const names[] = { "plain", "avx2", "avx512" };
    const char *wanted = getenv("THALWEG_ISA");
    tw__isa best = tw__isa_best();
    if (!wanted || !*wanted)
        return best;
    for (int i = 0; i <= TW_ISA_AVX512; i++) {
        if (strcmp(wanted, names[i]) == 0)
            return (tw__isa)i < best ? (tw__isa)i : best;
    }
    tw__log("WARNING", "THALWEG_ISA is \"%s\"; it is plain, avx2 or avx512", wanted);
    return best;
}

tw__isa tw__isa_used(void)
{
    static _Atomic int chosen; /* one more than it; 0: not yet asked for */
    int isa = chosen;
    if (!isa)
        chosen = isa = (int)choose() + 1;
    return (tw__isa)(isa - 1);
}
