"""Probabilities, warm starts, callbacks, interruption, explanations, displays, the transformer."""
import os
import pickle
import re
import signal
import threading
import time

import matplotlib.pyplot
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kweave import (
    ClassKernelDisplay,
    ConvergenceDisplay,
    KernelAlignmentDisplay,
    KernelStack,
    KernelWeightsDisplay,
    MKLClassifier,
    MKLRegressor,
    MKLTransformer,
    Views,
)

from kweave._calibration import logistic_probabilities, votes

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def slow():
    """A problem that takes minutes."""
    X, y = make_classification(n_samples=20000, n_features=20, flip_y=0.3, random_state=0)
    return X, y, dict(kernels="rbf(gamma=logspace(1e-2,1e1,20))", C=100, gap=1e-6)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_probabilities_agree_with_the_prediction(load):
    X, y = load(return_X_y=True)
    clf = MKLClassifier(probability=True).fit(X[::2], y[::2])
    probabilities = clf.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1) and (probabilities >= 0).all()
    assert np.array_equal(clf.classes_[probabilities.argmax(axis=1)], clf.predict(X))
    assert log_loss(y[1::2], probabilities[1::2]) < 0.25
    np.testing.assert_allclose(clf.predict_log_proba(X), np.log(probabilities))


def test_probabilities_are_calibrated():
    X, y = make_classification(n_samples=1500, n_features=5, n_informative=3, flip_y=0.4, random_state=1)
    clf = MKLClassifier("rbf", probability=True).fit(X[::3], y[::3])
    rest = np.arange(1500) % 3 != 0
    confidence = clf.predict_proba(X[rest]).max(axis=1)
    assert abs(confidence.mean() - clf.score(X[rest], y[rest])) < 0.05


def test_probabilities_are_there_when_asked_for(cancer):
    assert not hasattr(MKLClassifier(), "predict_proba")
    assert hasattr(MKLClassifier(probability=True), "predict_proba")
    assert hasattr(MKLClassifier(loss="logistic"), "predict_proba")
    assert not hasattr(MKLClassifier(loss="logistic", multiclass="ovo"), "predict_proba")
    with pytest.raises(NotFittedError, match="call fit again"):
        MKLClassifier().fit(*cancer).set_params(probability=True).predict_proba(cancer[0])


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_probabilities_of_several_classes(multiclass, loss):
    X, y = load_iris(return_X_y=True)
    clf = MKLClassifier(loss=loss, multiclass=multiclass, C=1e4, gap=1e-2, probability=True).fit(X, y)
    far = np.concatenate([X, 100 * X, -100 * X])  # values so large that probabilities round to 0 and 1
    probabilities = clf.predict_proba(far)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(clf.classes_[probabilities.argmax(axis=1)], clf.predict(far))
    assert log_loss(y, probabilities[:150]) < 0.3


def test_pairs_of_classes_are_coupled():
    X, y = load_iris(return_X_y=True)
    clf = MKLClassifier(multiclass="ovo", probability=True).fit(X[::2], y[::2])
    samples = clf._new_samples(X)
    calibration, values = clf._calibration, clf._calibrated_values(samples)
    np.testing.assert_allclose(votes(values, calibration.pairs, 3), clf.decision_function(X), rtol=1e-12)
    parts = clf.decision_function_by_kernel(X).sum(axis=2) + clf.intercept_
    np.testing.assert_allclose(values, parts, atol=1e-9)
    # What is coupled minimises the sum of squares among all that sum to 1.
    likely = 1 / (1 + np.exp(-calibration.slopes[0] * values))
    found = calibration._couple(values)

    def squares(p):
        return sum((r * p[:, v] - (1 - r) * p[:, u]) ** 2 for r, (u, v) in zip(likely.T, calibration.pairs))

    for k in range(3):
        step = np.eye(3)[k] - 1 / 3
        for size in (1e-4, -1e-4):
            assert (squares(found) <= squares(found + size * step) + 1e-15).all()


def made(classes, seed):
    return make_classification(900, 10, n_informative=8, n_redundant=0, n_classes=classes, n_clusters_per_class=1, random_state=seed)


@pytest.mark.parametrize("load", [
    lambda: load_breast_cancer(return_X_y=True), lambda: load_iris(return_X_y=True), lambda: load_wine(return_X_y=True),
    lambda: load_digits(return_X_y=True), lambda: made(6, 0), lambda: made(11, 1),
], ids=["cancer", "iris", "wine", "digits", "six classes", "eleven classes"])
def test_probabilities_are_as_good_as_those_of_scikit_learn(load):
    X, y = load()
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    models = [MKLClassifier(probability=True), SVC(probability=True, random_state=0), CalibratedClassifierCV(SVC())]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    ours, *theirs = (-cross_val_score(model, X, y, cv=folds, scoring="neg_log_loss").mean() for model in models)
    assert ours < min(theirs)


def test_rounded_probabilities_agree_with_the_values():
    values = np.array([[40.0, 50.0, 1.0], [50.0, 40.0, 1.0], [-900.0, -800.0, -1000.0]])
    for is_joint in (False, True):
        assert logistic_probabilities(values, is_joint).argmax(axis=1).tolist() == [1, 0, 1]


@pytest.mark.parametrize("norm", [1, 2])
def test_warm_start_reaches_the_same_answer(cancer, norm):
    X, y = cancer
    warm = MKLClassifier(norm=norm, warm_start=True, gap=1e-4)
    for C in (0.1, 1, 10):
        warm.set_params(C=C).fit(X, y)
        cold = MKLClassifier(norm=norm, C=C, gap=1e-4).fit(X, y)
        assert warm.status_ == "converged"
        assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-4)
    iterations = warm.n_iter_
    assert warm.fit(X, y).n_iter_ <= iterations


def test_warm_start_along_the_norm_and_other_samples(cancer):
    X, y = cancer
    clf = MKLClassifier(warm_start=True)
    for norm in (1, 1.5, "inf"):
        assert clf.set_params(norm=norm).fit(X, y).status_ == "converged"
    assert clf.fit(X[:100], y[:100]).status_ == "converged"


def test_callback_sees_and_stops(slow):
    X, y, options = slow
    seen = []

    def callback(info):
        seen.append(info)
        return info["seconds"] > 0.5

    begin = time.monotonic()
    clf = MKLClassifier(**options, callback=callback).fit(X, y)
    assert time.monotonic() - begin < 60
    assert clf.status_ == "interrupted" and clf.duality_gap_ > 0
    expected = {"seconds", "relative_gap", "target_gap", "iterations", "solves", "phase", "stage", "stage_gap"}
    assert expected == set(seen[0])


@pytest.mark.parametrize("kind", ["samples", "kernels", "machines"])
def test_callback_sees_the_gap_of_the_model(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 10))
    y = (X[:, :2] ** 2).sum(1) + rng.normal(size=6000) > 2
    options = dict(gap=1e-5, n_jobs=1)
    if kind == "kernels":
        X, y = X[:700], y[:700]
        options.update(kernels=f"each(rbf(gamma=logspace(1e-3,1e2,150)))", norm=1)
    if kind == "machines":
        y = y + 2 * (X[:, 3] > 0)
        options.update(multiclass="ovr", memory="120M")
    stages = set()

    def stop(info):
        stages.add(info["stage"])
        return info["relative_gap"] <= 0.05

    clf = MKLClassifier(**options, callback=stop).fit(X, y)
    assert stages and clf.duality_gap_ <= 0.06
    assert any(kind[:7] in stage for stage in stages), stages


def test_callback_knows_the_folds_of_the_calibration(cancer):
    seen = []
    X, y = cancer
    X = np.vstack([X] * 6) + np.random.default_rng(0).normal(size=(6 * len(X), X.shape[1]))
    clf = MKLClassifier(probability=True, callback=seen.append, n_jobs=1, gap=1e-6).fit(X, np.tile(y, 6))
    folds = [info for info in seen if "calibration fold" in info["stage"]]
    assert {info["relative_gap"] for info in folds} == {clf.duality_gap_}
    assert any(info["stage"] == "calibration fold 5 of 5" for info in folds)


def test_callback_may_raise(slow):
    X, y, options = slow

    def callback(info):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        MKLClassifier(**options, callback=callback).fit(X, y)


def test_verbose_prints(cancer, capsys):
    MKLClassifier(verbose=1).fit(*cancer)
    assert "[kweave]" in capsys.readouterr().out
    MKLClassifier().fit(*cancer)
    assert capsys.readouterr().out == ""


def seconds_to_stop(run, delay):
    """How long after Ctrl-C, pressed after `delay` seconds, `run` is over."""
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run()
        timer.cancel()
    return time.monotonic() - pressed[0]


@pytest.mark.parametrize("kind", ["kernels", "one thread", "classes", "matrices", "regression", "product"])
def test_interrupt_stops_within_a_second(slow, kind):
    X, y, options = slow
    clf, count = MKLClassifier(**options), 20000
    if kind == "one thread":
        clf.set_params(n_jobs=1)
    elif kind == "classes":
        clf, y, count = clf.set_params(multiclass="ovr"), y + (X[:, 0] > 0), 6000
    elif kind == "matrices":
        X, count = KernelStack([rbf_kernel(X[:3000], gamma=gamma) for gamma in (0.1, 1)]), 3000
        clf = MKLClassifier(C=1000, gap=1e-9)
    elif kind == "regression":
        clf, y, count = MKLRegressor(options["kernels"], loss="squared", C=100, gap=1e-7), X[:, 0], 6000
    elif kind == "product":
        clf, count = MKLClassifier("each(rbf)", combine="product", gap=1e-9), 6000
    # Tests share the machine with others: of some tries one must not have been held up by them.
    tries = (seconds_to_stop(lambda: clf.fit(X[:count], y[:count]), delay) for delay in (0.3, 1, 2, 3, 4))
    assert any(seconds < 1 for seconds in tries)


def test_interpreter_runs_on_while_training(slow):
    X, y, options = slow
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    MKLClassifier(**options, n_jobs=1, callback=lambda info: info["seconds"] > 1).fit(X[:4000], y[:4000])
    stop.set()
    thread.join()
    assert len(ticks) > 10


@pytest.mark.parametrize("kind", ["array", "views", "stack", "classes", "joint", "class kernels", "function"])
def test_decision_is_the_sum_of_its_parts(cancer, kind):
    X, y = cancer
    clf, samples = MKLClassifier(), X
    if kind == "views":
        samples = Views({"a": X[:, :5], "b": X[:, 5:]})
    elif kind == "stack":
        samples = KernelStack({"l": linear_kernel(X), "r": rbf_kernel(X, gamma=1e-4)})
    elif kind == "classes":
        clf, y = MKLClassifier(multiclass="ovr"), y + (X[:, 0] > 15)
    elif kind == "joint":
        clf, y = MKLClassifier(multiclass="joint"), y + (X[:, 0] > 15)
    elif kind == "class kernels":
        clf, y = MKLClassifier(multiclass="joint", class_kernels=["identity", "blocks"]), y + (X[:, 0] > 15)
    elif kind == "function":
        clf.set_params(kernels=["rbf", linear_kernel])
    clf.fit(samples, y)
    parts = clf.decision_function_by_kernel(samples)
    assert parts.shape[-1] == len(clf.kernel_names_)
    total = parts.sum(axis=-1) + (clf.intercept_ if parts.ndim == 3 else clf.intercept_[0])
    np.testing.assert_allclose(total, clf.decision_function(samples), rtol=1e-9, atol=1e-9)


def test_classes_that_are_alike_are_drawn_close_together():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    clf = MKLClassifier(multiclass="joint", class_kernels="blocks", C=1e-3).fit(X, names)
    drawn = ClassKernelDisplay.from_estimator(clf)
    assert drawn.classes == list(clf.classes_) and drawn.matrix.shape == (3, 3)
    assert drawn.points_.get_offsets().shape == (3, 2)
    assert [text.get_text() for text in drawn.ax_.texts] == drawn.classes
    setosa, versicolor, virginica = drawn.points
    assert np.linalg.norm(versicolor - virginica) < np.linalg.norm(versicolor - setosa)
    matplotlib.pyplot.close("all")


def test_displays(cancer):
    X, y = cancer
    clf = MKLClassifier().fit(X, y)
    weights = KernelWeightsDisplay.from_estimator(clf, max_kernels=4)
    assert len(weights.bars_[0]) == 4 and weights.figure_ is weights.ax_.figure
    gaps = ConvergenceDisplay.from_estimator(clf, x="seconds")
    assert len(gaps.lines_) == 1 and len(gaps.lines_[0].get_xdata()) == len(clf.history_)
    alignment = KernelAlignmentDisplay.from_estimator(MKLClassifier(), X, y, centered=False)
    assert alignment.alignment.shape == (6, 6) and np.allclose(np.diag(alignment.alignment), 1)
    assert alignment.label_alignment.shape == (6,)
    X, y = load_iris(return_X_y=True)
    y = y + 3 * (np.arange(150) < 25)  # four classes, six pairs
    for multiclass, bars in (("ovo", 6), ("ovr", 4), ("joint", 1)):
        several = MKLClassifier(multiclass=multiclass).fit(X, y)
        assert len(KernelWeightsDisplay.from_estimator(several).bars_) == bars
        lines = ConvergenceDisplay.from_estimator(several).lines_
        assert len(lines) == (1 if multiclass == "joint" else bars)
        assert all(len(line.get_xdata()) > 0 for line in lines)
        assert "relative duality gap" in several._repr_html_()
    with pytest.raises(ValueError, match="no kernel on the classes"):
        ClassKernelDisplay.from_estimator(several)
    with pytest.raises(ValueError, match="x is"):
        ConvergenceDisplay.from_estimator(clf, x="luck")
    matplotlib.pyplot.close("all")


def test_alignments_with_several_classes():
    X, y = load_iris(return_X_y=True)
    X, y = X[10:], y[10:]  # classes of different sizes
    analysis = MKLClassifier(["linear", "rbf(gamma=0.3)"], normalize="none").analyze_kernels(X, y)
    center = np.eye(len(y)) - 1 / len(y)
    target = center @ (y[:, None] == y).astype(float) @ center
    for kernel, matrix in zip(analysis["kernels"], (linear_kernel(X), rbf_kernel(X, gamma=0.3))):
        centered = center @ matrix @ center
        expected = (centered * target).sum() / np.linalg.norm(centered) / np.linalg.norm(target)
        assert kernel["centered_label_alignment"] == pytest.approx(expected, rel=1e-9)
        assert "label_alignment" not in kernel
    display = KernelAlignmentDisplay.from_estimator(MKLClassifier("linear"), X, y)
    assert len(display.label_alignment) == 1


def test_notebooks_show_weights_and_gap(cancer):
    clf = MKLClassifier("rbf(gamma=1e-4, name='<b>')".replace("'", '"'))
    assert "duality gap" not in clf._repr_html_()
    html = clf.fit(*cancer)._repr_html_()
    assert "relative duality gap" in html and "&lt;b&gt;" in html
    assert "relative duality gap" in clf._repr_mimebundle_()["text/html"]


def test_transformer_gives_the_kernel_of_the_machine(cancer):
    X, y = cancer
    transformer = MKLTransformer(MKLClassifier(C=5)).fit(X[:300], y[:300])
    gram = transformer.transform(X)
    assert gram.shape == (569, 300)
    np.testing.assert_allclose(gram[:300], gram[:300].T, rtol=1e-9, atol=1e-12)
    clf = transformer.estimator_
    values = gram[:, clf.support_] @ clf.dual_coef_.ravel() + clf.intercept_
    np.testing.assert_allclose(values, clf.decision_function(X), rtol=1e-9, atol=1e-9)
    svc = SVC(kernel="precomputed", C=5).fit(gram[:300], y[:300])
    assert np.mean(svc.predict(gram) == clf.predict(X)) > 0.99


def test_nystroem_features_approximate_the_kernel(cancer):
    X, y = cancer
    gram = MKLTransformer().fit(X, y).transform(X)
    features = MKLTransformer(output="nystroem", n_components=300, random_state=0).fit(X, y)
    Z = features.transform(X)
    assert Z.shape == (569, 300) and len(features.get_feature_names_out()) == 300
    assert np.linalg.norm(Z @ Z.T - gram) < 0.05 * np.linalg.norm(gram)
    pipeline = make_pipeline(clone(features), LogisticRegression(max_iter=1000))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9


@pytest.mark.parametrize("classes", [2, 3])
def test_transformer_by_source_splits_the_kernel(classes):
    rng = np.random.default_rng(4)
    X = Views({"rna": rng.normal(size=(90, 6)), "image": rng.normal(size=(90, 3)), "noise": np.zeros((90, 2))})
    y = np.digitize(X["rna"][:, 0] + X["image"][:, 0], [0] if classes == 2 else [-0.7, 0.7])
    whole, parts = (MKLTransformer(MKLClassifier(normalize="center,trace"), by_source=by).fit(X[:60], y[:60]) for by in (False, True))
    stack = parts.transform(X)
    assert isinstance(stack, KernelStack) and stack.names == parts.sources_ == ["rna", "image"]
    np.testing.assert_allclose(sum(gram for _, gram in stack.items()), whole.transform(X), rtol=1e-9, atol=1e-9)
    alone = MKLTransformer(MKLClassifier("rbf", normalize="none"), by_source=True).fit(X[:60], y[:60])
    # Each part is the kernel of its view times its weight.
    gammas = dict(zip(alone.estimator_.kernel_names_, alone.estimator_.kernel_weights_))
    for name, gram in alone.transform(X).items():
        (kernel, weight), = ((kernel, weight) for kernel, weight in gammas.items() if kernel.endswith(f"@{name}"))
        gamma = float(re.search(r"gamma=([^,)]*)", kernel)[1])
        np.testing.assert_allclose(gram, weight * rbf_kernel(X[name], X[name][:60], gamma=gamma), rtol=1e-4, atol=1e-5)


def test_transformer_by_source_gives_features_and_pickles():
    rng = np.random.default_rng(5)
    X = Views({"rna": rng.normal(size=(80, 6)), "image": rng.normal(size=(80, 3))})
    y = X["rna"][:, 0] + X["image"][:, 0] > 0
    features = MKLTransformer(output="nystroem", n_components=80, by_source=True, random_state=0).fit(X, y)
    gram = MKLTransformer().fit(X, y).transform(X)
    Z = features.transform(X)
    assert Z.shape == (80, 160) and len(features.get_feature_names_out()) == 160
    assert features.get_feature_names_out()[80] == "image__mkltransformer0"
    np.testing.assert_allclose(Z @ Z.T, gram, atol=1e-3 * gram.max())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(X), Z)
    again = features.set_params(by_source=False).fit(X, y)
    assert again.transform(X).shape == (80, 80) and not hasattr(again, "sources_")
    # The learned matrices of the sources are kernels of the next learner.
    pipeline = make_pipeline(MKLTransformer(by_source=True), MKLClassifier())
    assert pipeline.fit(X[:60], y[:60]).score(X[60:], y[60:]) > 0.7


def test_transformer_takes_stacks(cancer):
    X, y = cancer
    stack = KernelStack({"l": linear_kernel(X), "r": rbf_kernel(X, gamma=1e-4)})
    pipeline = make_pipeline(MKLTransformer(), SVC(kernel="precomputed"))
    assert cross_val_score(pipeline, stack, y, cv=3).mean() > 0.9


def test_threads_follow_the_surroundings(monkeypatch):
    from kweave._run import memory_bytes, thread_count

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert thread_count(None) == 0 and thread_count(3) == 3
    assert thread_count(-1) == len(os.sched_getaffinity(0))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert thread_count(None) == 1
    assert memory_bytes("2G") == 2 << 30 and memory_bytes("512 MiB") == 512 << 20 and memory_bytes(7) == 7
