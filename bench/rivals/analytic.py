"""lp-norm multiple kernel learning (p > 1) by alternating scikit-learn's SVC and the analytic update of the weights.

Kloft, Brefeld, Sonnenburg, Zien (2011), algorithm 1 with the monotone update theta_m ~ (theta_m^2 q_m)^(1 / (p + 1)).
Stops at a relative duality gap between sum alpha - theta' q / 2 and sum alpha - ||q||_p* / 2, taking each machine as
solved.
"""
import numpy
from problem import Machine, main


def train(problem):
    p = problem.norm
    matrices = problem.matrices()
    machine = Machine(problem, matrices)
    weights = numpy.full(len(matrices), len(matrices) ** (-1 / p))
    while True:
        primal = machine.solve(weights)
        dual = machine.linear - 0.5 * numpy.linalg.norm(machine.quadratics, p / (p - 1))
        gap = (primal - dual) / max(abs(primal), abs(dual))
        if gap <= problem.gap:
            break
        weights = (weights ** 2 * numpy.maximum(machine.quadratics, 0)) ** (1 / (p + 1))
        weights /= numpy.linalg.norm(weights, p)
    problem.report(machine.svc, weights, objective=primal, gap=gap, solves=machine.solves)


main(train)
