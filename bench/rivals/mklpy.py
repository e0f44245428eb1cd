"""MKLpy (Lauriola, Aiolli): `easy`, EasyMKL (one quadratic program, then weights once), or `average`, the mean kernel.

Both end with scikit-learn's SVC at the same C; neither solves the same problem as Kweave.
"""
from MKLpy.algorithms import AverageMKL, EasyMKL
from problem import main
from sklearn.svm import SVC
import torch


def train(problem, variant):
    matrices = [torch.tensor(matrix) for matrix in problem.matrices()]
    learner = SVC(C=problem.c, kernel="precomputed")
    method = EasyMKL(learner=learner) if variant == "easy" else AverageMKL(learner=learner)
    method.fit(matrices, torch.tensor(problem.labels))
    problem.report(method.learner, method.solution.weights.tolist())


main(train)
