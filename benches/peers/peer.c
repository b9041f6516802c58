/* The paper's unweighted game and four policies in plain C, written for speed: one play after the other, one
 * xoshiro256++ word per draw, no allocation in the loops. Called as `peer POLICY ARMS MEMORY HORIZON INSTANCES`. Prints
 * the CPU time and the mean excess loss with its standard error.
 *
 * Every play of a run is drawn, as in the game's definition. SE uses the paper's radius, the epoch UCB c = 2. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { uint64_t s[4]; } Rng;

static inline uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t next(Rng *r) {
    uint64_t *s = r->s, result = rotl(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t; s[3] = rotl(s[3], 45);
    return result;
}

static inline double uniform(Rng *r) { return (double)(next(r) >> 11) * 0x1p-53; }

static void seed(Rng *r, uint64_t x) { /* splitmix64 */
    for (int i = 0; i < 4; i++) {
        uint64_t z = (x += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        r->s[i] = z ^ (z >> 31);
    }
}

typedef struct { int best, memory, newest, streak; uint64_t left; double excess; Rng rng; } Game;

/* One play: 0.5 in expectation, 0.35 if the best arm fills its window. */
static inline double play(Game *g, int arm) {
    g->streak = arm == g->newest ? g->streak + 1 : 1;
    g->newest = arm;
    g->left--;
    double loss = arm == g->best && g->streak >= g->memory ? 0.35 : 0.5;
    g->excess += loss - 0.35;
    return uniform(&g->rng) < loss;
}

typedef struct { int arms; double gamma, total, *w; } Exp3;

static int exp3_draw(Exp3 *e, Rng *r) {
    double u = uniform(r);
    if (u < e->gamma) { int a = (int)(u / e->gamma * e->arms); return a < e->arms ? a : e->arms - 1; }
    double left = (u - e->gamma) / (1 - e->gamma) * e->total;
    for (int a = 0; a < e->arms - 1; a++) { if (left < e->w[a]) return a; left -= e->w[a]; }
    return e->arms - 1;
}

static void exp3_learn(Exp3 *e, int arm, double loss) {
    double p = (1 - e->gamma) * e->w[arm] / e->total + e->gamma / e->arms;
    double w = e->w[arm] * exp(e->gamma * (1 - loss) / (p * e->arms));
    e->total += w - e->w[arm];
    e->w[arm] = w;
    if (w > 1e100) {
        double largest = 0, sum = 0;
        for (int a = 0; a < e->arms; a++) if (e->w[a] > largest) largest = e->w[a];
        for (int a = 0; a < e->arms; a++) sum += e->w[a] /= largest;
        e->total = sum;
    }
}

static void run_exp3(Game *g, int arms, uint64_t horizon, uint64_t batch, Rng *r) {
    double updates = (double)((horizon + batch - 1) / batch), w[arms];
    Exp3 e = {arms, fmin(1, sqrt(arms * log(arms) / ((exp(1) - 1) * updates))), arms, w};
    for (int a = 0; a < arms; a++) w[a] = 1;
    while (g->left > 0) {
        int arm = exp3_draw(&e, r);
        uint64_t n = batch < g->left ? batch : g->left;
        double sum = 0;
        for (uint64_t i = 0; i < n; i++) sum += play(g, arm);
        if (n == batch) exp3_learn(&e, arm, sum / (double)batch);
    }
}

static void run_epoch_ucb(Game *g, int arms, int bound) {
    double mean[arms], sum[arms], width[arms];
    uint64_t n[arms], epochs = 0;
    memset(sum, 0, sizeof sum);
    memset(n, 0, sizeof n);
    while (g->left > 0) {
        int arm = 0;
        if (epochs < (uint64_t)arms) {
            arm = (int)epochs;
        } else {
            double scale = sqrt(2 * log((double)epochs)), least = INFINITY;
            for (int a = 0; a < arms; a++) {
                double index = mean[a] - scale * width[a];
                if (index < least) { least = index; arm = a; }
            }
        }
        if (g->left < (uint64_t)bound) { while (g->left > 0) play(g, arm); return; }
        double loss = 0;
        for (int i = 0; i < bound; i++) loss = play(g, arm);
        epochs++;
        n[arm]++;
        sum[arm] += loss;
        mean[arm] = sum[arm] / (double)n[arm];
        width[arm] = 1 / sqrt((double)n[arm]);
    }
}

static void run_se(Game *g, int arms, int bound, uint64_t horizon) {
    int alive[arms], count = arms, epochs = 1;
    double mean[arms];
    while (4.0 * arms * bound * (pow(2, epochs) - 1) < (double)horizon) epochs++;
    for (int a = 0; a < arms; a++) alive[a] = a;
    for (int s = 1; g->left > 0; s++) {
        uint64_t n = (uint64_t)ceil(arms * bound * pow(2, s) / count);
        double radius = sqrt(32.0 / (double)n * log(2.0 * arms * epochs / 0.05)), least = INFINITY;
        for (int i = 0; i < count; i++) {
            for (uint64_t k = 0; k < n && g->left > 0; k++) play(g, alive[i]);
            double sum = 0;
            uint64_t k = 0;
            for (; k < n && g->left > 0; k++) sum += play(g, alive[i]);
            if (k < n) return;
            mean[i] = sum / (double)n;
            if (mean[i] < least) least = mean[i];
        }
        int kept = 0;
        for (int i = 0; i < count; i++) if (mean[i] - least <= 2 * radius) alive[kept++] = alive[i];
        count = kept;
        if (count == 1) while (g->left > 0) play(g, alive[0]);
    }
}

static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    const char *policy = argv[1];
    int arms = atoi(argv[2]), memory = atoi(argv[3]), instances = atoi(argv[5]);
    uint64_t horizon = strtoull(argv[4], NULL, 10);
    uint64_t batch = (uint64_t)cbrt((double)horizon / (7.0 * arms * log(arms)));
    double start = cpu(), sum = 0, squares = 0;
    for (int i = 0; i < instances; i++) {
        Game g = {.best = i % arms, .memory = memory, .newest = -1, .left = horizon};
        Rng own;
        seed(&g.rng, 2 * (uint64_t)i + 1);
        seed(&own, 2 * (uint64_t)i + 2);
        if (!strcmp(policy, "exp3")) run_exp3(&g, arms, horizon, 1, &own);
        else if (!strcmp(policy, "batched-exp3")) run_exp3(&g, arms, horizon, batch < 1 ? 1 : batch, &own);
        else if (!strcmp(policy, "epoch-ucb")) run_epoch_ucb(&g, arms, memory);
        else if (!strcmp(policy, "successive-elimination")) run_se(&g, arms, memory, horizon);
        else return 2;
        sum += g.excess;
        squares += g.excess * g.excess;
    }
    double seconds = cpu() - start, n = instances, mean = sum / n;
    double variance = n > 1 ? fmax(0, (squares - n * mean * mean) / (n - 1)) : 0;
    printf("%.9f %.6f %.6f\n", seconds, mean, sqrt(variance / n));
    return 0;
}
