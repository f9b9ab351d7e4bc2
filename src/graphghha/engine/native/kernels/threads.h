/* Helpers for the calling thread. The caller never waits for a helper to show up, only for work a helper has begun:
 * on a busy machine a late helper finds nothing left to do, instead of holding everybody at a barrier. */
#ifndef GHHA_THREADS_H
#define GHHA_THREADS_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>

typedef struct {
    void (*work)(void *context, int64_t me); /* returns when nothing is left for thread `me`; 0 is the caller */
    void *context;
    int64_t wanted, joined, left; /* helpers */
} Job;

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_wake = PTHREAD_COND_INITIALIZER, pool_left = PTHREAD_COND_INITIALIZER;
static Job *pool_job;     /* what helpers may join */
static int64_t pool_size; /* helpers that exist */

static void *helper(void *unused) {
    (void)unused;
    pthread_mutex_lock(&pool_lock);
    for (;;) {
        while (!pool_job || pool_job->joined >= pool_job->wanted) pthread_cond_wait(&pool_wake, &pool_lock);
        Job *job = pool_job;
        const int64_t me = ++job->joined;
        pthread_mutex_unlock(&pool_lock);
        job->work(job->context, me);
        pthread_mutex_lock(&pool_lock);
        job->left++;
        pthread_cond_broadcast(&pool_left); /* several callers may wait, each for the helpers of its own job */
    }
    return NULL;
}

/* A forked child has none of the parent's helpers and hires its own. */
static void forget_pool(void) {
    pthread_mutex_init(&pool_lock, NULL);
    pthread_cond_init(&pool_wake, NULL);
    pthread_cond_init(&pool_left, NULL);
    pool_job = NULL;
    pool_size = 0;
}

static void hire(int64_t wanted) {
    static int is_registered;
    if (!is_registered) is_registered = pthread_atfork(NULL, NULL, forget_pool) == 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals stay with the interpreter's own threads */
    pthread_t thread;
    while (pool_size < wanted && pthread_create(&thread, NULL, helper, NULL) == 0) {
        pthread_detach(thread);
        pool_size++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Run `work` on the caller and up to threads - 1 helpers. While another caller has the helpers, it runs alone. */
static void share(int64_t threads, void (*work)(void *, int64_t), void *context) {
    Job job = {.work = work, .context = context, .wanted = threads - 1};
    int is_mine = 0;
    if (threads > 1) {
        pthread_mutex_lock(&pool_lock);
        if (!pool_job) {
            hire(job.wanted);
            pool_job = &job;
            is_mine = 1;
        }
        pthread_mutex_unlock(&pool_lock);
        if (is_mine) pthread_cond_broadcast(&pool_wake);
    }
    work(context, 0);
    if (is_mine) {
        pthread_mutex_lock(&pool_lock);
        pool_job = NULL;
        while (job.left < job.joined) pthread_cond_wait(&pool_left, &pool_lock);
        pthread_mutex_unlock(&pool_lock);
    }
}

/* Wait until a count is reached by threads that are already at work: a moment's spinning, then give way to them. */
static void await(const int64_t *count, int64_t target) {
    for (int64_t spins = 0; __atomic_load_n(count, __ATOMIC_ACQUIRE) < target; spins++) {
        if (spins > 200) sched_yield();
#if defined(__x86_64__)
        else __builtin_ia32_pause();
#endif
    }
}

static int64_t take(int64_t *counter) { return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

#endif
