/* The yardstick of Markov problems: a leader and a follower with UCBVI, the companion index, W = 1, the follower backing up
   over its prediction, as one would write it in plain C. Two agents, K x K arms; one run after another. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "random.h"

static void plan(int S, int A, int K, int H, double scale, const int *n, const double *sum, const int *links,
                 const int *link, const double *moves, const int *last, double *q, double *v) {
    for (int h = H - 1; h >= 0; h--) {
        double most = H - 1 - h;
        for (int p = 0; p < S * A; p++) {
            double floored = n[p] > 0 ? n[p] : 1e-6, estimate = (1.0 + sum[p]) / (2.0 + n[p]);
            double *out = q + h * S * A + p;
            if (h == H - 1) *out = estimate + scale * (1.0 / sqrt(floored));
            else if (n[p] == 0) *out = estimate + most + scale * (1.0 / sqrt(floored));
            else {
                double mean = 0.0, squares = 0.0;
                for (int k = p * S; k < p * S + links[p]; k++) {
                    double value = v[(h + 1) * S + link[k]];
                    mean += moves[k] * value;
                    squares += moves[k] * (value * value);
                }
                mean /= n[p];
                double variance = fmax(squares / n[p] - mean * mean, 0.0);
                *out = estimate + mean + scale * sqrt(1.0 / floored + (variance + most * most / n[p]) / n[p]);
            }
        }
        if (h == 0) break;
        for (int s = 0; s < S; s++) {
            const double *row = q + (h * S + s) * A;
            int guess = last ? last[h * S + s] : -1;
            double value = 0.0;
            if (!last) {
                double top = row[0];
                for (int a = 1; a < A; a++) if (row[a] > top) top = row[a];
                value = fmin(top, H - h);
            } else for (int i = 0; i < K; i++) {
                double share = guess < 0 ? 1.0 / K : i == guess;
                double top = row[i * K];
                for (int j = 1; j < K; j++) if (row[i * K + j] > top) top = row[i * K + j];
                value += share * fmin(top, H - h);
            }
            v[h * S + s] = value;
        }
    }
}

/* limits: S x A x S cumulative transition probabilities; means: S x A; start: S cumulative. */
void play_markov(const double *limits, const double *means, const double *start, const double *sight, double exploration,
                 int S, int K, int H, int episodes, int runs, uint64_t seed, double *paid) {
    int A = K * K;
    int *n = malloc(sizeof(int) * S * A), *links = malloc(sizeof(int) * S * A), *link = malloc(sizeof(int) * S * A * S);
    int *last = malloc(sizeof(int) * H * S);
    double *moves = malloc(sizeof(double) * S * A * S), *sums[2], *q[2], *v[2];
    for (int i = 0; i < 2; i++) {
        sums[i] = malloc(sizeof(double) * S * A);
        q[i] = malloc(sizeof(double) * H * S * A);
        v[i] = malloc(sizeof(double) * (H + 1) * S);
    }
    for (int run = 0; run < runs; run++) {
        uint64_t r[4];
        for (int i = 0; i < 4; i++) r[i] = splitmix(&seed);
        memset(n, 0, sizeof(int) * S * A);
        memset(links, 0, sizeof(int) * S * A);
        for (int i = 0; i < 2; i++) memset(sums[i], 0, sizeof(double) * S * A);
        for (int k = 0; k < H * S; k++) last[k] = -1;
        double total = 0.0;
        int t = 0;
        for (int e = 0; e < episodes; e++) {
            double scale = t > 0 ? sqrt(2.0 * exploration * log((double)t)) : 0.0, u = draw(r);
            plan(S, A, K, H, scale, n, sums[0], links, link, moves, NULL, q[0], v[0]);
            plan(S, A, K, H, scale, n, sums[1], links, link, moves, last, q[1], v[1]);
            int s = 0;
            while (s < S - 1 && u >= start[s]) s++;
            for (int h = 0; h < H; h++, t++) {
                const double *leader = q[0] + (h * S + s) * A, *follower = q[1] + (h * S + s) * A;
                int top = 0;
                for (int a = 1; a < A; a++) if (leader[a] > leader[top]) top = a;
                int i = e ? top / K : (int)(draw(r) * K), j = 0, guess = last[h * S + s];
                u = draw(r);
                if (guess < 0) guess = (int)(u * K);
                for (int b = 1; b < K; b++) if (follower[guess * K + b] > follower[guess * K + j]) j = b;
                int p = s * A + i * K + j, z = 0, k = 0;
                double reward = draw(r) < means[p];
                u = draw(r);
                while (z < S - 1 && u >= limits[p * S + z]) z++;
                sums[0][p] += draw(r) < sight[0] ? reward : 0.0;
                sums[1][p] += draw(r) < sight[1] ? reward : 0.0;
                n[p]++;
                while (k < links[p] && link[p * S + k] < z) k++;
                if (k < links[p] && link[p * S + k] == z) moves[p * S + k] += 1.0;
                else {
                    for (int m = links[p]++; m > k; m--) {
                        link[p * S + m] = link[p * S + m - 1];
                        moves[p * S + m] = moves[p * S + m - 1];
                    }
                    link[p * S + k] = z;
                    moves[p * S + k] = 1.0;
                }
                last[h * S + s] = i;
                total += reward;
                s = z;
            }
        }
        paid[run] = total;
    }
    free(n); free(links); free(link); free(last); free(moves);
    for (int i = 0; i < 2; i++) { free(sums[i]); free(q[i]); free(v[i]); }
}
