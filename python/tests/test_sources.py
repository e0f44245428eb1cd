"""Samples that lack views, confounds, scales and groups of features."""
import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from kweave import MKLClassifier, MKLRegressor, Views


def make(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    views = {name: y[:, None] * 1.2 + rng.normal(size=(n, 3)) + 5 for name in "abc"}
    has = {name: rng.random(n) < 0.7 for name in "abc"}
    has["a"] |= ~(has["b"] | has["c"])
    return views, has, y


def test_rows_of_nan_equal_differing_ids():
    views, has, y = make()
    ids = np.array([f"s{i}" for i in range(len(y))])
    by_nan = Views({name: np.where(has[name][:, None], matrix, np.nan) for name, matrix in views.items()}, join="outer")
    by_id = Views(
        {name: matrix[has[name]] for name, matrix in views.items()}, ids={name: ids[has[name]] for name in views}, join="outer"
    )
    place = np.array([int(one[1:]) for one in by_id.ids])
    assert sorted(place) == list(range(len(y)))
    first, second = MKLClassifier().fit(by_nan, y), MKLClassifier().fit(by_id, y[place])
    assert first.summary_["missing_views"] == [{"view": name, "missing": int((~has[name]).sum())} for name in views]
    assert first.objective_ == pytest.approx(second.objective_, rel=5e-3)
    assert first.verify(by_nan, y).holds
    assert np.allclose(first.decision_function(by_nan)[place], second.decision_function(by_id), atol=0.05)
    assert first.score(by_nan, y) > 0.8


def test_kernel_is_zero_at_the_mean():
    """Linear kernels of features that are centred on those who have them, zero for others: the same by hand."""
    views, has, y = make()
    X = Views({name: np.where(has[name][:, None], matrix, np.nan) for name, matrix in views.items()}, join="outer")
    by_hand = Views({name: np.where(has[name][:, None], matrix - matrix[has[name]].mean(axis=0), 0) for name, matrix in views.items()})
    options = dict(kernels="linear", normalize="none", gap=1e-6)
    one, other = MKLClassifier(**options).fit(X, y), MKLClassifier(**options).fit(by_hand, y)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-5)
    assert np.allclose(one.kernel_weights_, other.kernel_weights_, atol=1e-3)
    assert np.allclose(one.decision_function(X), other.decision_function(by_hand), atol=1e-2)


def test_missing_at_prediction_alone():
    views, _, y = make()
    clf = MKLClassifier(kernels="linear").fit(Views(views), y)
    at_mean = {**views, "c": np.tile(views["c"].mean(axis=0), (len(y), 1))}
    lacking = Views({**views, "c": None}, join="outer")
    assert np.allclose(clf.decision_function(lacking), clf.decision_function(Views(at_mean)), atol=1e-8)
    parts = clf.decision_function_by_source(lacking)
    assert np.allclose(np.asarray(parts)[:, 2], np.asarray(parts)[0, 2])


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_several_classes_and_rescaling(multiclass):
    views, has, _ = make()
    y = np.arange(120) % 3
    X = Views({name: np.where(has[name][:, None], matrix + y[:, None], np.nan) for name, matrix in views.items()}, join="outer")
    clf = MKLClassifier(multiclass=multiclass, missing_views="rescale").fit(X, y)
    assert clf.verify(X, y).holds
    assert clf.score(X[::2], y[::2]) > 0.6


def test_slices_and_cross_validation():
    views, has, y = make()
    X = Views({name: np.where(has[name][:, None], matrix, np.nan) for name, matrix in views.items()}, join="outer")
    assert np.array_equal(X[10:20].presence["a"], has["a"][10:20])
    assert cross_val_score(MKLClassifier(), X, y, cv=3).mean() > 0.75
    assert set((X | {"d": views["a"]}).presence) == set("abc")


def test_confounds_and_scale():
    rng = np.random.default_rng(1)
    age, site = rng.normal(50, 10, 90), rng.integers(0, 2, 90).astype(float)
    confounds = np.column_stack([age, site])
    features = rng.normal(size=(90, 4)) + 0.2 * age[:, None] - 3 * site[:, None]
    y = features[:, 0] - 0.2 * age + 3 * site + 0.1 * rng.normal(size=90)
    X = Views({"x": features}, confounds=confounds)
    train, test = slice(0, 60), slice(60, 90)
    model = MKLRegressor(scale="standard", C=10).fit(X[train], y[train])
    assert model.verify(X[train], y[train]).holds
    design = np.column_stack([np.ones(90), confounds])
    b = np.linalg.lstsq(design[train], features[train], rcond=None)[0]
    left = features - design @ b
    left /= left[train].std(axis=0)
    plain = MKLRegressor(C=10).fit(left[train], y[train])
    assert np.allclose(model.predict(X[test]), plain.predict(left[test]), atol=0.05)
    with pytest.raises(ValueError, match="needs them of the new samples"):
        model.predict(Views({"x": features}))
    with pytest.raises(ValueError, match="30 rows of confounds for 90"):
        Views({"x": features}, confounds=confounds[:30])


def test_feature_groups():
    pd = pytest.importorskip("pandas")
    views, _, y = make()
    frame = pd.DataFrame(np.hstack([views["a"], views["b"]]), columns=[f"g{k}" for k in range(6)])
    clf = MKLClassifier(kernels="linear", feature_groups={"one": ["g0", "g1"], "two": ["g4", "nothing"]}).fit(frame, y)
    assert list(clf.kernel_names_) == ["one", "two"]
    with pytest.raises(ValueError, match="expected a file or a dictionary"):
        MKLClassifier(feature_groups=3).fit(frame, y)


def test_bad_input():
    views, has, y = make()
    with pytest.raises(ValueError, match="join is 'left'"):
        Views(views, join="left")
    with pytest.raises(ValueError, match="a view is None"):
        Views({**views, "c": None})
    with pytest.raises(ValueError, match="all views are None"):
        Views({"a": None}, join="outer")
    partly = views["a"].copy()
    partly[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        Views({**views, "a": partly}, join="outer")
    X = Views({name: np.where(has[name][:, None], matrix, np.nan) for name, matrix in views.items()}, join="outer")
    with pytest.raises(ValueError, match="samples lack"):
        MKLClassifier(kernels={"a": lambda A, B: A @ B.T}).fit(X, y)
