"""The paper's unweighted game and four policies in numba, written for speed: compiled loops, instances in parallel
(prange), numba's own generator. Called as `peer_numba.py POLICY ARMS MEMORY HORIZON INSTANCES TRIES`. Prints the CPU
time of all threads without compilation, the least of TRIES, and the mean excess loss with its standard error."""

import math
import sys
import time

import numpy as np
from numba import njit, prange


@njit(inline="always")
def play(arm, state, best, memory):
    """One play: state is [newest arm, streak, plays left]; returns the observed loss and the expected excess."""
    state[1] = state[1] + 1 if arm == state[0] else 1
    state[0] = arm
    state[2] -= 1
    loss = 0.35 if arm == best and state[1] >= memory else 0.5
    return (1.0 if np.random.random() < loss else 0.0), loss - 0.35


@njit
def exp3(arms, memory, horizon, best, batch):
    updates = (horizon + batch - 1) // batch
    gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * updates)))
    weights = np.ones(arms)
    total = float(arms)
    state = np.array([-1, 0, horizon])
    excess = 0.0
    while state[2] > 0:
        u = np.random.random()
        if u < gamma:
            arm = min(int(u / gamma * arms), arms - 1)
        else:
            left = (u - gamma) / (1.0 - gamma) * total
            arm = 0
            while arm < arms - 1 and left >= weights[arm]:
                left -= weights[arm]
                arm += 1
        n = min(batch, state[2])
        losses = 0.0
        for _ in range(n):
            loss, more = play(arm, state, best, memory)
            losses += loss
            excess += more
        if n == batch:
            p = (1.0 - gamma) * weights[arm] / total + gamma / arms
            weight = weights[arm] * math.exp(gamma * (1.0 - losses / batch) / (p * arms))
            total += weight - weights[arm]
            weights[arm] = weight
            if weight > 1e100:
                weights /= weights.max()
                total = weights.sum()
    return excess


@njit
def epoch_ucb(arms, memory, horizon, best):
    sums, means, widths = np.zeros(arms), np.zeros(arms), np.zeros(arms)
    chosen = np.zeros(arms, np.int64)
    state = np.array([-1, 0, horizon])
    excess = 0.0
    epochs = 0
    while state[2] > 0:
        arm = 0
        if epochs < arms:
            arm = epochs
        else:
            scale = math.sqrt(2.0 * math.log(epochs))
            least = np.inf
            for x in range(arms):
                index = means[x] - scale * widths[x]
                if index < least:
                    least = index
                    arm = x
        n = min(memory, state[2])
        loss = 0.0
        for _ in range(n):
            loss, more = play(arm, state, best, memory)
            excess += more
        if n == memory:
            epochs += 1
            chosen[arm] += 1
            sums[arm] += loss
            means[arm] = sums[arm] / chosen[arm]
            widths[arm] = 1.0 / math.sqrt(chosen[arm])
    return excess


@njit
def elimination(arms, memory, horizon, best):
    epochs = 1
    while 4.0 * arms * memory * (2.0**epochs - 1.0) < horizon:
        epochs += 1
    alive = np.ones(arms, np.bool_)
    means = np.zeros(arms)
    state = np.array([-1, 0, horizon])
    excess = 0.0
    s = 1
    while state[2] > 0:
        count = alive.sum()
        n = int(math.ceil(arms * memory * 2.0**s / count))  # noqa: RUF046
        for arm in range(arms):
            if not alive[arm]:
                continue
            losses = 0.0
            k = 0
            while k < 2 * n and state[2] > 0:
                loss, more = play(arm, state, best, memory)
                excess += more
                if k >= n:
                    losses += loss
                k += 1
            if k < 2 * n:
                return excess
            means[arm] = losses / n
        radius = math.sqrt(32.0 / n * math.log(2.0 * arms * epochs / 0.05))
        least = np.inf
        for arm in range(arms):
            if alive[arm] and means[arm] < least:
                least = means[arm]
        for arm in range(arms):
            if alive[arm] and means[arm] - least > 2.0 * radius:
                alive[arm] = False
        s += 1
        if alive.sum() == 1:
            last = np.argmax(alive)
            while state[2] > 0:
                _, more = play(last, state, best, memory)
                excess += more
    return excess


@njit(parallel=True)
def instances_of(policy, arms, memory, horizon, instances):
    excesses = np.zeros(instances)
    batch = max(1, int((horizon / (7.0 * arms * math.log(arms))) ** (1.0 / 3.0)))
    for i in prange(instances):
        best = i % arms
        if policy == 0:
            excesses[i] = exp3(arms, memory, horizon, best, 1)
        elif policy == 1:
            excesses[i] = exp3(arms, memory, horizon, best, batch)
        elif policy == 2:
            excesses[i] = epoch_ucb(arms, memory, horizon, best)
        else:
            excesses[i] = elimination(arms, memory, horizon, best)
    return excesses


POLICIES = {"exp3": 0, "batched-exp3": 1, "epoch-ucb": 2, "successive-elimination": 3}


def main():
    policy = POLICIES[sys.argv[1]]
    arms, memory, horizon, instances, tries = map(int, sys.argv[2:7])
    instances_of(policy, arms, memory, 4 * arms * memory, 2)  # compiles
    seconds = math.inf
    for _ in range(tries):
        start = time.process_time()
        excesses = instances_of(policy, arms, memory, horizon, instances)
        seconds = min(seconds, time.process_time() - start)
    print(seconds, excesses.mean(), excesses.std(ddof=1) / math.sqrt(instances) if instances > 1 else 0.0)


main()
