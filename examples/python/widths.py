"""
The width of a Gaussian without a grid search
=============================================

Three cultivars of wine, told apart by chemistry. Which width fits? A grid search trains an SVM for each of 25 widths and each fold; one
training with all 25 Gaussians learns their weights instead. The picture asks whether both agree: the weights are largest where the
accuracy of single widths is.
"""
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kweave import MKLClassifier, kernels

X, y = load_wine(return_X_y=True)
gammas = np.logspace(-4, 2, 25)
one_training = make_pipeline(StandardScaler(), MKLClassifier(kernels.RBF(gammas)))
grid = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__gamma": gammas}, cv=3)

scores = {}
for name, model in {"one training, 25 kernels": one_training, "a grid of 25 widths": grid}.items():
    begin = time.process_time()
    scores[name] = cross_val_score(model, X, y, cv=StratifiedKFold(5, shuffle=True, random_state=0))
    print(f"{name:<25} accuracy {scores[name].mean():.3f}, {time.process_time() - begin:5.2f} s of processor time")

clf = one_training.fit(X, y)[-1]
chosen = grid.fit(X, y).best_params_["svc__gamma"]
heaviest = gammas[clf.kernel_weights_.argmax()]
print(f"the grid chooses gamma {chosen:.3g}, the heaviest of the kernels has {heaviest:.3g}")
ours, theirs = (values.mean() for values in scores.values())
assert ours > theirs - 0.01 and 0.1 < heaviest / chosen < 10

figure, (above, below) = plt.subplots(2, sharex=True, layout="constrained")
above.semilogx(gammas, grid.cv_results_["mean_test_score"], marker=".")
above.set_ylabel("accuracy of one width")
below.bar(gammas, clf.kernel_weights_, width=0.4 * gammas)
below.set(xlabel="gamma", ylabel="weight among all")
plt.show()
