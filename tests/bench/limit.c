/* What this machine can do at most, for tests/bench/decode.py: reading a buffer, and float32
 * multiply-adds in registers, on a given number of threads. x86-64; built with -O3 -march=native.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef float Lanes __attribute__((vector_size(64)));
typedef uint64_t Words __attribute__((vector_size(64), aligned(2)));

enum { kAccumulators = 12, kLanes = 16, kMostThreads = 64 };

typedef struct {
  const char *from;
  size_t bytes;
  double flops;
  float sink;
} Part;

static void *read_part(void *argument) {
  Part *part = argument;
  Words sum[4] = {{0}};
  for (size_t at = 0; at + 256 <= part->bytes; at += 256) {
    for (int i = 0; i < 4; ++i) sum[i] ^= *(const Words *)(part->from + at + 64 * i);
  }
  sum[0] ^= sum[1] ^ sum[2] ^ sum[3];
  part->sink = (float)sum[0][0];
  return NULL;
}

/* Twelve named sums: gcc keeps an array of vectors in memory. */
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

static void *multiply_part(void *argument) {
  Part *part = argument;
  const Lanes half = (Lanes){0} + 0.5f, small = (Lanes){0} + 1e-3f;
#define START(i) Lanes a##i = (Lanes){0} + (float)i;
  EACH(START)
  for (int64_t n = (int64_t)(part->flops / (2.0 * kAccumulators * kLanes)); n > 0; --n) {
    /* The empty statement keeps the compiler from folding rounds into one. */
#define ROUND(i)              \
  a##i = a##i * half + small; \
  __asm__ volatile("" : "+v"(a##i));
    EACH(ROUND)
  }
  part->sink = (a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11)[0];
  return NULL;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The best of `rounds`: seconds of all parts side by side. */
static double best(void *(*work)(void *), Part *parts, int threads, int rounds) {
  double fastest = 1e9;
  for (int round = 0; round < rounds; ++round) {
    pthread_t ids[kMostThreads];
    double start = seconds();
    for (int i = 1; i < threads; ++i) pthread_create(&ids[i], NULL, work, &parts[i]);
    work(&parts[0]);
    for (int i = 1; i < threads; ++i) pthread_join(ids[i], NULL);
    double took = seconds() - start;
    if (took < fastest) fastest = took;
  }
  return fastest;
}

/* Seconds for reading `bytes`, repeated inside so that starting threads does not count. */
double limit_read(const char *from, size_t bytes, int threads, int rounds) {
  Part parts[kMostThreads];
  for (int i = 0; i < threads; ++i) {
    parts[i] = (Part){from + bytes / threads * i, bytes / threads, 0, 0};
  }
  return best(read_part, parts, threads, rounds);
}

/* FLOP/s of float32 multiply-adds. */
double limit_multiply(int threads, int rounds) {
  const double flops = 4e8;
  Part parts[kMostThreads];
  for (int i = 0; i < threads; ++i) parts[i] = (Part){NULL, 0, flops, 0};
  return flops * threads / best(multiply_part, parts, threads, rounds);
}
