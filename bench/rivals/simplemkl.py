"""SimpleMKL (Rakotomamonjy, Bach, Canu, Grandvalet, JMLR 2008) on scikit-learn's SVC: p = 1 by reduced gradients.

Their algorithm 1: the direction is the reduced gradient with respect to the largest weight; it is followed to the
border of the simplex, dropping one weight after the other, as long as the objective decreases; then a line search
(Armijo's rule, which needs fewer machines than a golden section). Stops at the relative duality gap between sum
alpha - d' q / 2 and sum alpha - max q / 2, taking each machine as solved.
"""
import numpy
from problem import Machine, main

ARMIJO, SHORTER, SMALLEST_STEP = 0.01, 0.5, 1e-10


def reduced_direction(weights, gradient):
    """Minus the reduced gradient, zero where a weight of zero would become negative; it sums to zero."""
    largest = numpy.argmax(weights)
    direction = gradient[largest] - gradient
    direction[(weights <= 0) & (direction < 0)] = 0
    direction[largest] = 0
    direction[largest] = -direction.sum()
    return direction, largest


def longest_step(weights, direction):
    """The step to the border, and the weight that becomes zero there."""
    falling = numpy.flatnonzero(direction < 0)
    steps = -weights[falling] / direction[falling]
    return steps.min(), falling[numpy.argmin(steps)]


def moved(weights, step, direction):
    moved_weights = numpy.maximum(weights + step * direction, 0)
    return moved_weights / moved_weights.sum()


def follow(machine, weights, objective, gradient):
    """One iteration: weights and objective after the border steps and the line search; None when no step helps."""
    direction, largest = reduced_direction(weights, gradient)
    if not numpy.any(direction < 0):
        return None
    start = objective
    while numpy.any(direction < 0):
        step, dropped = longest_step(weights, direction)
        at_border = moved(weights, step, direction)
        at_border[dropped] = 0
        border_objective = machine.solve(at_border)
        if border_objective >= objective:
            break
        weights, objective = at_border, border_objective
        direction[largest] += direction[dropped]
        direction[dropped] = 0
    else:
        return weights, objective
    slope = gradient @ direction
    while step > SMALLEST_STEP:
        step *= SHORTER
        candidate = moved(weights, step, direction)
        candidate_objective = machine.solve(candidate)
        if candidate_objective <= objective + ARMIJO * step * min(slope, 0):
            return candidate, candidate_objective
    return (weights, machine.solve(weights)) if objective < start else None


def train(problem):
    matrices = problem.matrices()
    machine = Machine(problem, matrices)
    weights = numpy.full(len(matrices), 1 / len(matrices))
    objective = machine.solve(weights)
    while True:
        gap = 0.5 * (machine.quadratics.max() - weights @ machine.quadratics) / abs(objective)
        if gap <= problem.gap:
            break
        step = follow(machine, weights, objective, -0.5 * machine.quadratics)
        if step is None:
            break
        weights, objective = step
    problem.report(machine.svc, weights, objective=objective, gap=gap, solves=machine.solves)


main(train)
