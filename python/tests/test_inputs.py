"""Four kinds of input, one answer; and each through scikit-learn's model selection."""
import pickle
import tracemalloc
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score, permutation_test_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kweave import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor, MKLTransformer, Views, kernels

SPECS = ["rbf(gamma=0.1)", "linear"]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(n_samples=120, n_features=6, n_informative=4, random_state=0)
    return X, y


@pytest.fixture(scope="module")
def grams(data):
    X, _ = data
    return {"rbf": rbf_kernel(X, gamma=0.1), "linear": linear_kernel(X)}


def inputs(data, grams):
    """Kind, estimator and samples of each kind of input, all of the same problem."""
    X, _ = data
    options = dict(C=2, gap=1e-6)
    on_views = ["rbf(gamma=0.1)@data", kernels.Linear(view="data")]
    return {
        "array": (MKLClassifier(SPECS, **options), X),
        "views": (MKLClassifier(on_views, **options), Views({"data": X, "other": X[:, :2]})),
        "stack": (MKLClassifier(**options), KernelStack(grams)),
        "cube": (MKLClassifier(**options), KernelStack(np.dstack(list(grams.values())), names=list(grams))),
        "indices": (MKLClassifier(KernelStack(grams), **options), np.arange(len(X))),
        "callables": (MKLClassifier([lambda a, b: rbf_kernel(a, b, gamma=0.1), linear_kernel], **options), X),
    }


KINDS = ["array", "views", "stack", "cube", "indices", "callables"]


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_are_equivalent(data, grams, kind):
    X, y = data
    train, test = np.arange(0, 120, 2), np.arange(1, 120, 2)
    reference = MKLClassifier(SPECS, C=2, gap=1e-6).fit(X[train], y[train])
    estimator, samples = inputs(data, grams)[kind]
    estimator.fit(samples[train], y[train])
    np.testing.assert_allclose(estimator.kernel_weights_, reference.kernel_weights_, atol=1e-3)
    np.testing.assert_allclose(
        estimator.decision_function(samples[test]), reference.decision_function(X[test]), atol=2e-3
    )


@pytest.mark.parametrize("normalize", ["none", "spherical", "center", ["spherical", "center", "multiplicative"]])
@pytest.mark.parametrize("kind", ["views", "stack", "callables"])
def test_normalisations_of_new_samples(data, grams, kind, normalize):
    X, y = data
    train, test = np.arange(0, 120, 2), np.arange(1, 120, 2)
    reference = MKLClassifier(SPECS, C=2, gap=1e-6, normalize=normalize).fit(X[train], y[train])
    estimator, samples = inputs(data, grams)[kind]
    estimator.set_params(normalize=normalize).fit(samples[train], y[train])
    np.testing.assert_allclose(
        estimator.decision_function(samples[test]), reference.decision_function(X[test]), atol=5e-3
    )


@pytest.mark.parametrize("kind", [*KINDS, "sparse", "table", "float32"])
def test_model_selection(data, grams, kind):
    X, y = data
    y = np.array(["no", "yes"], dtype=object)[y]
    estimator, samples = inputs(data, grams)[kind if kind in KINDS else "array"]
    if kind == "sparse":
        samples = sparse.csr_matrix(X)
    elif kind == "table":
        samples = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])], index=[f"s{i}" for i in range(len(X))])
    elif kind == "float32":
        samples = X.astype(np.float32)
    estimator.set_params(gap=1e-3)
    search = GridSearchCV(estimator, {"C": [0.1, 1], "norm": [1, 2]}, cv=3, n_jobs=2).fit(samples, y)
    assert search.best_score_ > 0.75
    assert len(search.predict(samples)) == len(y)
    nested = cross_val_score(GridSearchCV(estimator, {"C": [0.1, 1]}, cv=2), samples, y, cv=3, n_jobs=2)
    assert nested.shape == (3,) and nested.mean() > 0.75
    score, permuted, p = permutation_test_score(estimator, samples, y, cv=3, n_permutations=9, n_jobs=2, random_state=0)
    assert score > permuted.mean() and p <= 0.2


def test_pipeline(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), MKLClassifier())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.7


def test_support_vector_columns_are_enough(data, grams):
    X, y = data
    train, test = np.arange(0, 120, 2), np.arange(1, 120, 2)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)  # three machines
    estimator = MKLClassifier().fit(KernelStack(grams)[train], y[train])
    whole = estimator.decision_function(KernelStack(grams)[test])
    columns = train[estimator.support_]
    assert len(columns) < len(train)
    part = KernelStack({name: gram[np.ix_(test, columns)] for name, gram in grams.items()})
    np.testing.assert_allclose(estimator.decision_function(part), whole, rtol=1e-12)
    training = KernelStack({name: gram[np.ix_(test, train)] for name, gram in grams.items()})
    np.testing.assert_allclose(estimator.decision_function(training), whole, rtol=1e-12)
    with pytest.raises(ValueError, match="one per training sample"):
        estimator.predict(KernelStack({name: gram[:5, :7] for name, gram in grams.items()}))


def test_matrices_are_not_copied(grams):
    stack = KernelStack({name: gram.astype(np.float32) for name, gram in grams.items()})
    part = stack[::2][:10]
    assert all(a is b for (_, a), (_, b) in zip(part.items(), stack.items()))
    estimator = MKLClassifier(stack)
    assert clone(estimator).kernels is stack
    cube = np.zeros((4, 4, 2))
    assert all(np.shares_memory(gram, cube) for _, gram in KernelStack(cube).items())


@pytest.mark.parametrize("kind", ["float32", "float64", "sparse", "views", "sliced"])
def test_features_are_not_copied(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 2000), dtype=np.float32 if kind == "float32" else np.float64)
    y = X[:, 0] > 0
    if kind == "sparse":
        X = sparse.csr_matrix(np.where(X > 1, X, 0))
    elif kind == "views":
        X = Views({"a": X, "b": X})
    elif kind == "sliced":
        X = X[:, 500:1500]
    clf = MKLClassifier("linear", gap=0.1)
    tracemalloc.start()
    try:
        clf.fit(X, y).predict(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Labels, weights and the like; NumPy reports its arrays to tracemalloc. Slices are made contiguous by validation.
    assert peak < (10 << 20 if kind == "sliced" else 1 << 20)


def test_zero_weights_leave_rows_and_columns_out(data, grams):
    _, y = data
    weight = np.ones(len(y))
    weight[::3] = 0
    kept = np.flatnonzero(weight)
    stack = KernelStack(grams)
    weighted = MKLClassifier().fit(stack, y, sample_weight=weight)
    without = MKLClassifier().fit(stack[kept], y[kept])
    assert np.array_equal(weighted.decision_function(stack), without.decision_function(stack))
    assert np.array_equal(weighted.support_, kept[without.support_])


def test_views_are_joined_by_id():
    frames = {
        "a": pd.DataFrame({"p": [1.0, 2, 3]}, index=["x", "y", "z"]),
        "b": pd.DataFrame({"q": [30.0, 10], "r": [0.0, 1]}, index=["z", "x"]),
    }
    with pytest.warns(UserWarning, match="2 of 3 samples have an id in all views; the join leaves out 1 of view 'a' .drop=True"):
        views = Views(frames, ids="index")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Views(frames, ids="index", drop=True)
        Views({"a": frames["a"].loc[["x", "z"]], "b": frames["b"]}, ids="index")
    with pytest.raises(ValueError, match="leaves out 1 of view 'a'$"):
        Views(frames, ids="index", drop=False)
    assert views.ids.tolist() == ["x", "z"]
    assert [matrix.tolist() for matrix in views.values()] == [[[1], [3]], [[10, 1], [30, 0]]]
    assert views[[True, False]].ids.tolist() == ["x"]
    with pytest.raises(ValueError, match="ids of view 'b' are not those of view 'a'; ids='index' joins"):
        Views(frames)
    with pytest.raises(ValueError, match="differ in their number of samples"):
        Views({name: frame.to_numpy() for name, frame in frames.items()})
    with pytest.raises(ValueError, match="each once"):
        Views(frames, ids={"a": "xxz", "b": "zx"})


def test_views_are_a_dictionary():
    rng = np.random.default_rng(0)
    A, B, C = rng.normal(size=(5, 2)), sparse.random(5, 3, density=0.5, format="csr", random_state=0), rng.normal(size=(5, 1))
    views = Views({"a": A, "b": B})
    assert views["a"] is A or np.array_equal(views["a"], A)
    assert list(views) == list(views.keys()) == ["a", "b"] and "a" in views and "c" not in views
    assert [name for name, _ in views.items()] == ["a", "b"] and len(list(views.values())) == 2
    with pytest.raises(KeyError, match="no view 'c', only 'a', 'b'"):
        views["c"]
    assert repr(views) == "Views(5 samples; a: 2 features, b: 3 features)"
    more = views | {"c": C, "a": C}
    assert list(more) == ["a", "b", "c"] and more["a"].shape == (5, 1) and views["a"].shape == (5, 2)
    assert list({"c": C} | views) == ["c", "a", "b"]
    assert more[:2].shape == (2, 5) and more[1, ...]["a"].tolist() == [C[1].tolist()]
    with pytest.raises(TypeError):
        views | 3
    with pytest.raises(ValueError, match="differ in their number"):
        views | {"c": C[:3]}
    frame = pd.DataFrame({"p": [1.0, 2, 3]}, index=["x", "y", "z"])
    left, right = Views({"l": frame}, ids="index"), Views({"r": frame.iloc[::-1]}, ids="index")
    both = left | right
    assert both.ids.tolist() == ["x", "y", "z"] and np.array_equal(both["l"], both["r"])
    assert both.feature_names == {"l": ["p"], "r": ["p"]}


def test_views_come_in_many_forms(data):
    X, y = data
    listed = Views([X[:, :2], X[:, 2:]])
    assert list(listed) == ["v1", "v2"]
    columns = pd.MultiIndex.from_tuples([("rna", "g1"), ("rna", "g2"), ("image", "p"), ("image", "q"), ("image", "r"), ("age", "")])
    frame = pd.DataFrame(X, columns=columns, index=[f"s{i}" for i in range(len(X))])
    views = Views(frame)
    assert list(views) == ["rna", "image", "age"] and views.ids[3] == "s3"
    assert views.feature_names["image"] == ["p", "q", "r"]
    assert np.array_equal(views["image"], X[:, 2:5])
    assert Views(frame.reset_index(drop=True)).ids is None
    MKLClassifier().fit(views, pd.Series(y, index=frame.index))
    for wrong, message in ((pd.DataFrame(X), "columns of two levels"), (3, "views are int"), ([], "no views"), (X, "views are ndarray")):
        with pytest.raises(ValueError, match=message):
            Views(wrong)


def test_frames_in_another_order_are_refused(data):
    X, y = data
    frame = pd.DataFrame(X, index=[f"s{i}" for i in range(len(X))])
    for other in (frame.iloc[::-1], frame.iloc[1:]):
        with pytest.raises(ValueError, match="ids of view 'b' are not those of view 'a'"):
            Views({"a": frame, "b": other})
    both = Views({"a": frame, "b": frame.to_numpy(), "c": frame.reset_index(drop=True)})
    assert both.ids.tolist() == frame.index.tolist()
    with pytest.raises(ValueError, match="another order"):
        MKLClassifier().fit(both, pd.Series(y, index=frame.index[::-1]))


def test_views_of_annotated_matrices(data):
    X, _ = data
    cells = np.array([f"c{i}" for i in range(len(X))])

    def annotated(rows, columns, names):  # what AnnData and MuData are known by
        return SimpleNamespace(X=X[rows][:, columns], obs_names=cells[rows], var_names=list(names))

    rna, protein = annotated(np.arange(20), [0, 1], "pq"), annotated(np.arange(19, 4, -1), [2], "r")
    many = SimpleNamespace(mod={"rna": rna, "protein": protein}, obs_names=cells)
    views = Views(many, drop=True)
    assert views.ids.tolist() == cells[5:20].tolist() and views.feature_names == {"rna": ["p", "q"], "protein": ["r"]}
    assert np.array_equal(views["protein"], X[5:20, 2:3])
    assert Views({"rna": rna}).ids.tolist() == cells[:20].tolist()
    xarray = pytest.importorskip("xarray")
    rows, columns = ("cell", cells), ("gene", ["p", "q"])
    array = xarray.DataArray(X[:, :2], coords=[rows, columns])
    views = Views(xarray.Dataset({"rna": array, "protein": (("cell", "site"), X[:, 2:])}))
    assert views.ids.tolist() == cells.tolist() and views.feature_names == {"rna": ["p", "q"], "protein": []}
    assert np.array_equal(views["protein"], X[:, 2:])


def test_rows_of_nan_are_missing_samples(data):
    X, y = data
    lacking = X[:, 2:].copy()
    lacking[[3, 7]] = np.nan
    with pytest.warns(UserWarning, match=f"{len(X) - 2} of {len(X)} samples have an id in all views; the join leaves out 2 of view 'a'"):
        views = Views({"a": X[:, :2], "b": lacking})
    kept = np.delete(np.arange(len(X)), [3, 7])
    assert np.array_equal(views.ids, kept) and np.array_equal(views["a"], X[kept, :2])
    MKLClassifier().fit(views, y[views.ids])
    names = np.array([f"s{i}" for i in range(len(X))])
    frames = {"a": pd.DataFrame(X[:, :2], index=names), "b": pd.DataFrame(lacking, index=names).iloc[::-1]}
    assert Views(frames, ids="index", drop=True).ids.tolist() == names[kept].tolist()
    with pytest.raises(ValueError, match="leaves out 2 of view 'a'"):
        Views({"a": X[:, :2], "b": lacking}, drop=False)
    lacking[5, 0] = np.nan
    with pytest.raises(ValueError, match="b contains NaN"):
        Views({"a": X[:, :2], "b": lacking}, drop=True)
    with pytest.raises(ValueError, match="a view is None"):
        Views({"a": X, "b": None})


def test_views_and_stacks_are_no_arrays(data):
    X, _ = data
    for container in (Views({"a": X}), KernelStack([X @ X.T])):
        with pytest.raises(TypeError, match="several"):
            StandardScaler().fit(container)
    assert Views({"a": X}).get("b") is None and Views({"a": X}).get("a").shape == X.shape


def test_views_show_themselves():
    html = Views({"<a>": pd.DataFrame({"p": [1.0, 2]}, index=["x", "y"]), "b": sparse.eye(2, format="csr")})._repr_html_()
    assert "2 samples, ids x, y" in html and "&lt;a&gt;" in html and "sparse float64" in html


def test_targets_in_another_order_are_refused(data):
    X, y = data
    ids = [f"s{i}" for i in range(len(X))]
    frame, target = pd.DataFrame(X, index=ids), pd.Series(y, index=ids)
    views = Views({"a": frame.iloc[::-1, :3], "b": frame.iloc[:, 3:]}, ids="index")
    scores = cross_val_score(MKLClassifier(), views, target.loc[views.ids], cv=3)
    assert np.array_equal(scores, cross_val_score(MKLClassifier(), views, y[::-1], cv=3))
    for estimator in (MKLClassifier(), MKLRegressor(), MKLTransformer(MKLClassifier())):
        with pytest.raises(ValueError, match=r"the index of y has the ids of X in another order; give y.loc\[X.ids\]"):
            estimator.fit(views, target)
        estimator.fit(views, target.loc[views.ids])
    with pytest.raises(ValueError, match=r"the index of sample_weight has the ids of X in another order"):
        MKLClassifier().fit(views, target.loc[views.ids], sample_weight=pd.Series(1.0, index=ids))
    with pytest.raises(ValueError, match=r"has 120 ids, X has 60 of them; give y.loc\[X.ids\]"):
        MKLClassifier().fit(views[::2], target)
    with pytest.raises(ValueError, match=r"the index of y lacks 20 of the 120 ids of X"):
        MKLClassifier().fit(views, target.iloc[20:])
    MKLClassifier().fit(views, pd.Series(y[::-1]))  # nobody gave it an index
    MKLClassifier().fit(Views({"a": X}), target)  # nothing to compare with


def test_messages_name_samples_as_given(data):
    X, y = data
    rng = np.random.default_rng(0)
    for wrong in rng.integers(len(X), size=3):
        weight = np.ones(len(X))
        weight[wrong] = -1
        for estimator in (MKLClassifier(), MKLRegressor(), MKLOneClass()):
            with pytest.raises(ValueError, match=f"sample_weight is -1 at position {wrong}, expected 0 or more"):
                estimator.fit(X, y, sample_weight=weight)
        counts = np.abs(X)
        counts[wrong, 2] = -0.5
        weight = np.where(np.arange(len(X)) % 7 == (wrong + 1) % 7, 0, 1)  # some samples are left out
        with pytest.raises(ValueError, match=f'view "data", sample {wrong}, feature 2: -0.5 is negative'):
            MKLClassifier("chi2").fit(counts, y, sample_weight=weight)
        gram = linear_kernel(X)
        gram[wrong, 5] = gram[5, wrong] = np.nan
        place = f"(row {wrong}, column 5|row 5, column {wrong})"
        part = np.sort(np.append(rng.choice(len(X), 60, replace=False), [wrong, 5, 5]))
        part = np.unique(part)
        with pytest.raises(ValueError, match=place):
            MKLClassifier().fit(KernelStack([gram])[part], y[part])
        clf = MKLClassifier().fit(KernelStack([linear_kernel(X)]), y)
        with pytest.raises(ValueError, match=place):
            clf.predict(KernelStack([gram])[part])

    def skewed(A, B):
        return A @ B.T + 100.0 * np.outer(A[:, 0] == X[7, 0], B[:, 0] == X[9, 0])

    with pytest.raises(ValueError, match="(row 7, column 9|row 9, column 7)"):
        MKLClassifier(skewed).fit(X, y)


def test_containers_are_asked_for_by_name(data, grams):
    X, y = data
    K1, K2 = grams.values()
    for samples, message in (
        ({"a": X, "b": X}, r"give Views\(X\) of features, or KernelStack\(X\)"),
        ([K1, K2], r"a list of 2 matrices: give KernelStack\(X\)"),
        ((X, sparse.csr_matrix(X)), r"a tuple of 2 matrices: give KernelStack\(X\)"),
    ):
        for estimator in (MKLClassifier(), MKLTransformer(), MKLRegressor()):
            with pytest.raises(ValueError, match=message):
                estimator.fit(samples, y)
        with pytest.raises(ValueError, match=message):
            MKLClassifier().fit(X, y).predict(samples)
    MKLClassifier().fit(sparse.dok_matrix(X), y)  # which is a dictionary
    for container in (Views({"a": X}), KernelStack(grams)):
        with pytest.raises(TypeError, match="several"):
            np.asarray(container)
    with pytest.raises(TypeError, match="several"):
        StandardScaler().fit(Views({"a": X}))


def test_normalisation_may_be_none(data):
    X, y = data
    plain = MKLClassifier(SPECS, normalize="none").fit(X, y)
    for none in (None, [], ("none",)):
        assert MKLClassifier(SPECS, normalize=none).fit(X, y).objective_ == plain.objective_
    for wrong in (3, [None]):
        with pytest.raises(ValueError, match="normalize is .*expected a text, a sequence of texts or None"):
            MKLClassifier(SPECS, normalize=wrong).fit(X, y)


@pytest.mark.parametrize("scale", [1e-150, 1e-156, 1e-160, 1e-165, 1e-300, 5e-324])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_values_near_the_smallest_number(data, kind, scale):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = MKLClassifier("linear").fit(kind(X) * scale, y)
        MKLRegressor().fit(kind(X) * scale, y)
    assert clf.duality_gap_ <= 1e-3 and clf.status_ == "converged"


def test_views_are_matched_by_name(data):
    X, y = data
    views = Views({"one": X[:, :3], "two": X[:, 3:]})
    clf = MKLClassifier().fit(views, y)
    assert len(clf.kernel_names_) == 12 and clf.n_features_in_ == 6
    swapped = Views({"two": X[:, 3:], "one": X[:, :3]})
    assert np.array_equal(clf.decision_function(swapped), clf.decision_function(views))
    with pytest.raises(ValueError, match="'two'"):
        clf.predict(Views({"one": X[:, :3]}))


def test_kernels_write_the_language():
    texts = {
        kernels.RBF(gamma=[0.1, 1]): "rbf(gamma=[0.1,1])",
        kernels.RBF("median*4", view="my genes"): 'rbf(gamma=median*4)@"my genes"',
        kernels.Poly(degree=range(1, 4), coef0=0, name="p"): "poly(degree=[1,2,3],coef0=0,name=p)",
        kernels.Each(kernels.RBF(), features=[0, 2], name="f"): "each(rbf, name=f)@data[1,3]",
        kernels.Linear(view="v", features=["a b", "c"]): 'linear@v["a b",c]',
        kernels.Linear() * kernels.RBF(2) + kernels.Tanimoto(): "((linear*rbf(gamma=2))+tanimoto)",
        kernels.Mean([kernels.Chi2(), kernels.Intersection()], name="h"): "(mean(chi2,intersection), name=h)",
        kernels.Laplacian(1e-20): "laplacian(gamma=1e-20)",
    }
    for kernel, text in texts.items():
        assert str(kernel) == text


def test_every_kernel_trains(data):
    X, y = data
    X = np.abs(X)
    every = [
        kernels.Linear(),
        kernels.Poly(degree=2),
        kernels.RBF([1, "median"]),
        kernels.Laplacian(),
        kernels.Chi2(),
        kernels.Intersection(),
        kernels.Tanimoto(),
        kernels.Each(kernels.RBF(), name="single"),
        (kernels.Linear() * kernels.RBF()),
        kernels.Mean([kernels.Linear(), kernels.RBF()], name="both"),
        kernels.Callable(linear_kernel, name="a function"),
    ]
    clf = MKLClassifier(every, norm=1.5).fit(X, y)
    assert len(clf.kernel_names_) == 17 and "single.6" in clf.kernel_names_ and "a function" in clf.kernel_names_
    assert np.array_equal(pickle.loads(pickle.dumps(clf)).decision_function(X), clf.decision_function(X))


def test_functions_are_checked(data):
    X, y = data
    with pytest.raises(ValueError, match=r"shape \(120,\), expected \(120, 120\)"):
        MKLClassifier(lambda a, b: a[:, 0]).fit(X, y)
    with pytest.raises(ValueError, match="not symmetric"):
        MKLClassifier(lambda a, b: a @ b.T + np.arange(len(b))).fit(X, y)
    with pytest.raises(ZeroDivisionError):
        MKLClassifier(lambda a, b: 1 / 0).fit(X, y)


def test_functions_of_one_name_are_numbered(data):
    X, y = data
    clf = MKLClassifier([lambda a, b: a @ b.T, lambda a, b: (a @ b.T) ** 2], gap=1e-6).fit(X, y)
    assert clf.kernel_names_ == ["<lambda>.1", "<lambda>.2"]
    reference = MKLClassifier(["linear", "linear*linear"], gap=1e-6).fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X), reference.decision_function(X), atol=1e-2)


def test_functions_are_evaluated_in_blocks(data):
    X, _ = data
    sizes = []

    def kernel(a, b):
        sizes.append(a.shape[0])
        return a @ b.T

    values = kernels.Callable(kernel, block=50).matrix(X, X)
    assert sizes == [50, 50, 20] and np.allclose(values, X @ X.T)


def test_other_forms_of_new_samples_are_refused(data, grams):
    X, y = data
    views, stack = Views({"a": X, "b": X}), KernelStack(grams)
    for fitted, other in ((views, X), (stack, X), (X, stack), (views, stack)):
        with pytest.raises(ValueError, match="new samples come in the same form"):
            MKLClassifier().fit(fitted, y).predict(other)
    assert MKLClassifier().fit(Views({"a": X}), y).score(X.tolist(), y) > 0.7  # one view is one array
    with pytest.raises(ValueError, match=r"give KernelStack\(X\)"):
        MKLClassifier().fit(np.dstack(list(grams.values())), y)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ([], "kernels is empty"),
        (3, "kernels has a int"),
        ([None], "kernels has a NoneType"),
        ([np.eye(120)], "Gram matrices go into a KernelStack"),
        (kernels.RBF, r"one of its instances: RBF\(\)"),
        (kernels.RBF(features=[6]), "no feature 6; positions run from 0 to 5"),
        (kernels.Linear() * kernels.RBF(features=[-1]), "no feature -1"),
        (kernels.RBF(view="rna"), 'no view "rna"'),
    ],
)
def test_wrong_kernels_are_named(data, wrong, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifier(wrong).fit(*data)


def test_wrong_ids_are_named():
    views = {"a": np.ones((2, 1)), "b": np.ones((2, 1))}
    with pytest.raises(ValueError, match=r"ids of the views \['a'\], expected those of \['a', 'b'\]"):
        Views(views, ids={"a": "xy"})
    with pytest.raises(ValueError, match="no id occurs in all views"):
        Views(views, ids={"a": "xy", "b": "uv"})


def test_wrong_stacks_are_refused(grams):
    with pytest.raises(ValueError, match="differ in shape"):
        KernelStack([np.eye(3), np.eye(4)])
    with pytest.raises(ValueError, match="no kernel matrices"):
        KernelStack([])
    with pytest.raises(ValueError, match="same samples"):
        MKLClassifier().fit(KernelStack([np.ones((3, 4))]), [0, 1, 1])
    with pytest.raises(ValueError, match="indices of samples"):
        MKLClassifier(KernelStack(grams)).fit(np.ones((3, 2)), [0, 1, 1])
    with pytest.raises(IndexError):
        MKLClassifier(KernelStack(grams)).fit([0, 1, 1000], [0, 1, 1])
    with pytest.raises(ValueError, match="row 0, column 1"):
        MKLClassifier().fit(KernelStack([np.array([[1, np.nan], [np.nan, 1]])]), [0, 1])


def test_functions_of_sample_and_class():
    X, y = load_iris(return_X_y=True)
    names = np.array(["c", "a", "b"])[y]

    def product(A, B):
        return np.einsum("ij,uv->iujv", rbf_kernel(A, B, gamma=0.5), np.eye(3))

    def guide(A, B):
        """How well each sample fits the mean of each class, in the order of classes_."""
        means = np.array([X[names == name].mean(axis=0) for name in "abc"])
        return np.einsum("iu,jv->iujv", rbf_kernel(A, means), rbf_kernel(B, means))

    options = dict(multiclass="joint", gap=1e-8)
    plain = MKLClassifier([kernels.RBF(gamma=0.5), kernels.Linear()], **options).fit(X[::2], names[::2])
    joint = MKLClassifier([kernels.Joint(product, block=20), kernels.Linear()], **options).fit(X[::2], names[::2])
    assert joint.kernel_names_ == ["product", "linear"]
    np.testing.assert_allclose(joint.kernel_weights_, plain.kernel_weights_, atol=1e-5)
    np.testing.assert_allclose(joint.decision_function(X), plain.decision_function(X), atol=1e-4)
    guided = MKLClassifier([kernels.RBF(), kernels.Joint(guide), kernels.Joint(product)], multiclass="joint")
    assert cross_val_score(guided, X, names).min() > 0.9
    again = pickle.loads(pickle.dumps(MKLClassifier(kernels.Joint(_by_mean), multiclass="joint").fit(X, y)))
    assert again.score(X, y) > 0.9
    with pytest.raises(ValueError, match="train with multiclass joint"):
        MKLClassifier(kernels.Joint(product)).fit(X, y)
    with pytest.raises(ValueError, match="expected .75, n_classes, 75, n_classes."):
        MKLClassifier(kernels.Joint(rbf_kernel), multiclass="joint").fit(X[::2], y[::2])
    with pytest.raises(ValueError, match="no parts by kernel"):
        joint.decision_function_by_kernel(X)


def _by_mean(A, B):
    X, y = load_iris(return_X_y=True)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    return np.einsum("iu,jv->iujv", rbf_kernel(A, means), rbf_kernel(B, means))
