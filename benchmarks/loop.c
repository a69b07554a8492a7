/* The yardstick: two Partner-Aware UCB agents on a 2 x 2 Bernoulli problem, as one would write it in plain C.
   One run after another, one round after another, the paper's index (fixed delta), first-index ties. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "random.h"

void play(const double *means, const double *sight, double exploration, int window, int horizon, int runs,
          uint64_t seed, double *regret) {
    double best = means[0];
    for (int a = 1; a < 4; a++) if (means[a] > best) best = means[a];
    double term = exploration * 2.0 * log((double)horizon);
    int ring[1024];
    for (int run = 0; run < runs; run++) {
        uint64_t s[4];
        for (int i = 0; i < 4; i++) s[i] = splitmix(&seed);
        double n[4] = {0}, sum[2][4] = {{0}}, index[2][4];
        for (int i = 0; i < 2; i++) for (int a = 0; a < 4; a++) index[i][a] = INFINITY;
        double lost = 0.0;
        for (int t = 0; t < horizon; t++) {
            int top = 0;
            for (int a = 1; a < 4; a++) if (index[0][a] > index[0][top]) top = a;
            int row = top >> 1;
            int past = t < window ? t : window;
            double u = draw(s);
            int guess = past ? ring[(t - past + (int)(u * past)) % window] : (int)(u * 2);
            int column = index[1][2 * guess + 1] > index[1][2 * guess];
            int a = 2 * row + column;
            double reward = draw(s) < means[a];
            double first = draw(s) < sight[0] ? reward : 0.0;
            double second = draw(s) < sight[1] ? reward : 0.0;
            n[a] += 1.0;
            sum[0][a] += first;
            sum[1][a] += second;
            double bonus = sqrt(term / n[a]);
            index[0][a] = sum[0][a] / n[a] + bonus;
            index[1][a] = sum[1][a] / n[a] + bonus;
            ring[t % window] = row;
            lost += best - means[a];
        }
        regret[run] = lost;
    }
}
