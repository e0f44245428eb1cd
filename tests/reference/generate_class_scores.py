#!/usr/bin/env python3
"""Generates class_scores.json: labels and values of several classes with their scores, found by scikit-learn 1.2.1. Some
classes of the model have no sample, predicted or not, and some labels are no class of the model. Run it only to change the problems:

    /usr/bin/python3 generate_class_scores.py > class_scores.json
"""

import json
import sys
import warnings

import numpy as np
from sklearn import metrics

CLASSES = np.array(["ash", "beech", "cedar", "elm"])
# Name, and the labels of the samples by turns.
SINGLE = [
    ("all occur", ["ash", "beech", "cedar", "elm"]),
    ("one absent", ["ash", "beech", "cedar"]),
    ("one unknown", ["ash", "beech", "cedar", "elm", "oak"]),
    ("several unknown", ["ash", "yew", "beech", "cedar", "elm", "oak", "beech", "pine", "oak"]),
    ("unknown and absent", ["ash", "yew", "cedar", "oak", "ash"]),
]
SEVERAL = [
    ("several labels", ["ash|beech", "elm", "", "cedar", "ash|elm", "cedar|beech"]),
    ("several labels, one absent", ["ash|beech", "", "cedar", "ash", "cedar|beech"]),
]


def values(generator, truth, noise):
    """Higher where the class is true, with every class predicted now and then."""
    return np.round(np.where(truth, 1.0, -1.0) + noise * generator.standard_normal(truth.shape), 4)


def means(truth, predicted, decision, occurring):
    """Over the labels `occurring`, of which those beyond the columns of `decision` are unknown; truth and predicted are indicators."""
    known = [u for u in occurring if u < decision.shape[1]]
    return {
        "f1": metrics.f1_score(truth, predicted, labels=occurring, average="macro", zero_division=0),
        "mean_mcc": np.mean([metrics.matthews_corrcoef(truth[:, u], predicted[:, u]) for u in occurring]),
        "average_precision": np.mean([metrics.average_precision_score(truth[:, u], decision[:, u]) for u in known]),
        "classes_occurring": len(occurring),
    }


def single(name, turns, generator, count):
    y = np.array([turns[i % len(turns)] for i in range(count)])
    names = np.append(CLASSES, np.setdiff1d(y, CLASSES))
    truth = y[:, None] == names
    decision = values(generator, truth[:, :4], 1.5)
    predicted = CLASSES[decision.argmax(axis=1)]
    occurring = np.flatnonzero(truth.any(axis=0))
    scores = means(truth, predicted[:, None] == names, decision, occurring)
    assert np.isclose(scores["f1"], metrics.f1_score(y, predicted, labels=np.unique(y), average="macro"))
    scores |= {
        "accuracy": metrics.accuracy_score(y, predicted),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, predicted),
        "mcc": metrics.matthews_corrcoef(y, predicted),
        "confusion": metrics.confusion_matrix(y, predicted, labels=names)[:, :4].tolist(),
        "confusion_rows": names.tolist(),
    }
    problem = {"name": name, "labels": y.tolist(), "separator": "", "decision": decision.ravel().tolist()}
    if len(names) == 4:
        probability = 1 / (1 + np.exp(-decision))
        probability /= probability.sum(axis=1, keepdims=True)
        problem["probability"] = probability.ravel().tolist()
        scores["log_loss"] = metrics.log_loss(y, probability, labels=CLASSES)
        scores["top"] = {str(k): metrics.top_k_accuracy_score(y, decision, k=k, labels=CLASSES) for k in (2, 3)}
    return problem | {"scores": scores}


def several(name, turns, generator, count):
    y = [turns[i % len(turns)] for i in range(count)]
    truth = np.array([[one in labels.split("|") for one in CLASSES] for labels in y])
    decision = values(generator, truth, 1.0)
    scores = means(truth, decision > 0, decision, np.flatnonzero(truth.any(axis=0)))
    scores |= {
        "accuracy": metrics.accuracy_score(truth, decision > 0),
        "hamming_loss": metrics.hamming_loss(truth, decision > 0),
    }
    # Labels that the model does not know change nothing.
    y = [labels + ("|oak" if i % 5 == 0 else "") for i, labels in enumerate(y)]
    return {"name": name, "labels": y, "separator": "|", "decision": decision.ravel().tolist(), "scores": scores}


def main():
    warnings.filterwarnings("ignore", message="y_pred contains classes not in y_true")
    generator = np.random.default_rng(1)
    problems = [single(name, turns, generator, 36) for name, turns in SINGLE]
    problems += [several(name, turns, generator, 30) for name, turns in SEVERAL]
    json.dump({"classes": CLASSES.tolist(), "problems": problems}, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
