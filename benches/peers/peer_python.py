"""The paper's unweighted game played from Python, one play after the other. Called as
`peer_python.py LIBRARY POLICY ARMS MEMORY HORIZON INSTANCES`, where LIBRARY is `numpy` (policies written by hand),
`river` or `SMPyBandits` (policies of these libraries, which play single plays: EXP3 and UCB1). Prints the CPU time and
the mean excess loss with its standard error.

MEMORY 0 is a rested game: the rotting arms of Seznec et al. 2019, Figure 1 with L = 0.02 * 1.25^16 for two arms, Figure
2 for ten. SMPyBandits has RAW-UCB, FEWA and wSWA for it."""

import math
import sys
import time

import numpy as np


class Game:
    def __init__(self, best, memory, rng):
        self.best, self.memory, self.rng = best, memory, rng
        self.newest, self.streak, self.excess = -1, 0, 0.0

    def play(self, arm):
        self.streak = self.streak + 1 if arm == self.newest else 1
        self.newest = arm
        loss = 0.35 if arm == self.best and self.streak >= self.memory else 0.5
        self.excess += loss - 0.35
        return float(self.rng.random() < loss)


class RottingGame:
    """Rewards of rotting arms; the excess is that of losses over 1/2, as in this project."""

    def __init__(self, arms, rng):
        self.rng, self.excess, self.plays = rng, 0.0, [0] * arms
        if arms == 2:
            self.range = 0.02 * 1.25**16
            self.falls = [(2501, self.range / 2), (0, 0.0)]
        else:
            self.range = 20.0
            self.falls = [(0, 0.0)] + [(1000, 10 * 10 ** ((x - arms + 1) / 2)) for x in range(1, arms)]

    def play(self, arm):
        last, mean = self.falls[arm]
        reward = mean if self.plays[arm] < last else -mean
        self.plays[arm] += 1
        self.excess -= reward / self.range
        return reward + self.rng.standard_normal()


def numpy_exp3(game, arms, memory, horizon, rng, batch=1):
    gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1) * math.ceil(horizon / batch))))
    weights = np.ones(arms)
    for _ in range(horizon // batch):
        p = (1 - gamma) * weights / weights.sum() + gamma / arms
        arm = int(rng.choice(arms, p=p))
        loss = sum(game.play(arm) for _ in range(batch)) / batch
        weights[arm] *= math.exp(gamma * (1 - loss) / (p[arm] * arms))
        if weights[arm] > 1e100:
            weights /= weights.max()


def numpy_batched(game, arms, memory, horizon, rng):
    numpy_exp3(game, arms, memory, horizon, rng, max(1, int((horizon / (7 * arms * math.log(arms))) ** (1 / 3))))


def numpy_epoch_ucb(game, arms, memory, horizon, rng):
    sums, chosen = np.zeros(arms), np.zeros(arms)
    for epoch in range(horizon // memory):
        arm = epoch if epoch < arms else int(np.argmin(sums / chosen - np.sqrt(2 * math.log(epoch) / chosen)))
        for _ in range(memory):
            loss = game.play(arm)
        sums[arm] += loss
        chosen[arm] += 1


def numpy_ucb1(game, arms, memory, horizon, rng):
    numpy_epoch_ucb(game, arms, 1, horizon, rng)


def numpy_elimination(game, arms, memory, horizon, rng):
    epochs = 1
    while 4 * arms * memory * (2**epochs - 1) < horizon:
        epochs += 1
    alive, left, s = np.arange(arms), horizon, 1
    while left > 0:
        n = math.ceil(arms * memory * 2**s / len(alive))
        means = np.zeros(len(alive))
        for i, arm in enumerate(alive):
            losses = [game.play(arm) for _ in range(min(2 * n, left))]
            left -= len(losses)
            means[i] = np.mean(losses[n:]) if len(losses) == 2 * n else 0.0
        radius = math.sqrt(32 / n * math.log(2 * arms * epochs / 0.05))
        alive, s = alive[means - means.min() <= 2 * radius], s + 1


def river_policy(name):
    from river import bandit

    def run(game, arms, memory, horizon, rng):
        seed = int(rng.integers(2**31))
        if name == "exp3":
            gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1) * horizon)))
            policy = bandit.Exp3(gamma=gamma, seed=seed)
        else:
            policy = bandit.UCB(delta=1, seed=seed)
        everything = list(range(arms))
        for _ in range(horizon):
            arm = policy.pull(everything)
            policy.update(arm, 1 - game.play(arm))

    return run


def smpy_policy(name):
    from SMPyBandits.Policies import UCB, Exp3

    def run(game, arms, memory, horizon, rng):
        gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1) * horizon)))
        policy = Exp3(arms, gamma=gamma) if name == "exp3" else UCB(arms)
        policy.startGame()
        for _ in range(horizon):
            arm = int(policy.choice())
            policy.getReward(arm, 1 - game.play(arm))

    return run


def smpy_rested(name):
    """The policies of SMPyBandits for rotting arms, which are not in its package on PyPI."""
    from SMPyBandits.Policies.FEWA import EFF_FEWA
    from SMPyBandits.Policies.RAWUCB import EFF_RAWUCB
    from SMPyBandits.Policies.SWA import wSWA

    made = {
        "raw-ucb": lambda arms: EFF_RAWUCB(arms, alpha=1.4, subgaussian=1, m=1.1),
        "fewa": lambda arms: EFF_FEWA(arms, alpha=0.06, subgaussian=1, m=1.1),
        "wswa": lambda arms: wSWA(arms, subgaussian=1, alpha=0.02),
    }[name]

    def run(game, arms, memory, horizon, rng):
        policy = made(arms)
        policy.startGame()
        for _ in range(horizon):
            arm = int(policy.choice())
            policy.getReward(arm, game.play(arm))

    return run


def main():
    library, name = sys.argv[1:3]
    arms, memory, horizon, instances = map(int, sys.argv[3:7])
    by_hand = {
        "successive-elimination": numpy_elimination,
        "exp3": numpy_exp3,
        "batched-exp3": numpy_batched,
        "epoch-ucb": numpy_epoch_ucb,
        "ucb1": numpy_ucb1,
    }
    smpy = smpy_policy if memory else smpy_rested
    run = {"numpy": by_hand.get, "river": river_policy, "SMPyBandits": smpy}[library](name)
    excesses, start = [], time.process_time()
    for instance in range(instances):
        rng = np.random.default_rng(instance)
        game = Game(instance % arms, memory, rng) if memory else RottingGame(arms, rng)
        run(game, arms, memory, horizon, rng)
        excesses.append(game.excess)
    seconds = time.process_time() - start
    error = np.std(excesses, ddof=1) / math.sqrt(instances) if instances > 1 else 0.0
    print(seconds, np.mean(excesses), error)


main()
