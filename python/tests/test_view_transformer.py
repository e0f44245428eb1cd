"""Preprocessing per view, inside pipelines and folds."""
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from kweave import MKLClassifier, Views, ViewTransformer


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    ids = [f"s{i}" for i in range(90)]
    rna = pd.DataFrame(5 + 3 * rng.normal(size=(90, 8)), columns=[f"g{j}" for j in range(8)], index=ids)
    image = sparse.random(90, 6, density=0.5, format="csr", random_state=0)
    age = rng.uniform(20, 90, size=(90, 1))
    return Views({"rna": rna, "image": image, "age": age}, ids=ids)


def test_each_view_has_its_own(views):
    scale = ViewTransformer({"rna": make_pipeline(StandardScaler(), PCA(2)), "age": StandardScaler(), "image": "drop"})
    new = scale.fit_transform(views)
    assert list(new) == ["rna", "age"] and new.shape == (90, 3) and np.array_equal(new.ids, views.ids)
    assert new.feature_names == {"rna": ["pca0", "pca1"], "age": []}
    np.testing.assert_allclose(new["age"], StandardScaler().fit_transform(views["age"]))
    np.testing.assert_allclose(scale.transform(views[:10])["rna"], new["rna"][:10])


def test_views_without_a_transformer_pass(views):
    new = ViewTransformer({"age": StandardScaler()}).fit_transform(views)
    assert new["rna"] is views["rna"] and new.feature_names["rna"] == views.feature_names["rna"]
    assert sparse.issparse(new["image"])


def test_one_serves_all(views):
    scale = ViewTransformer(StandardScaler(with_mean=False)).fit(views)
    assert len({id(one) for one in scale.transformers_.values()}) == 3
    assert scale.transform(views).feature_names["rna"] == views.feature_names["rna"]
    np.testing.assert_allclose(scale.transform(views)["rna"].std(axis=0), 1)
    assert scale.set_params(transformers__with_std=False).transformers.with_std is False


def test_fitted_inside_each_fold(views):
    y = (views["rna"][:, 0] > 5).astype(int)
    seen = []

    def look(X):
        seen.append(X.shape[0])
        return X

    scale = ViewTransformer({"rna": FunctionTransformer(look), "age": StandardScaler()})
    assert cross_val_score(make_pipeline(scale, MKLClassifier()), views, y, cv=3).mean() > 0.6
    assert seen.count(60) == 3 and seen.count(30) == 3
    pipeline = make_pipeline(ViewTransformer({"rna": SelectKBest(k=8)}), MKLClassifier())
    search = GridSearchCV(pipeline, {"viewtransformer__rna__k": [1, 4]}, cv=3).fit(views, y)
    assert search.best_estimator_[0].transform(views)["rna"].shape[1] == search.best_params_["viewtransformer__rna__k"]


def test_parameters_are_reached(views):
    scale = ViewTransformer({"rna": PCA(3), "age": "passthrough"})
    assert scale.get_params()["rna__n_components"] == 3
    copy = clone(scale).set_params(rna__n_components=2, age=StandardScaler())
    assert copy.fit_transform(views)["rna"].shape == (90, 2)
    assert scale.transformers["rna"].n_components == 3 and scale.transformers["age"] == "passthrough"
    with pytest.raises(ValueError, match="Invalid parameter"):
        scale.set_params(other=3)


def test_what_is_wrong_is_named(views):
    for transformers, message in (
        ({"rnas": PCA()}, "no view 'rnas' to transform, only 'rna', 'image', 'age'"),
        ({"rna": "scale"}, "view 'rna': 'scale' is no transformer"),
        ("drop", "every view is dropped"),
    ):
        with pytest.raises(ValueError, match=message):
            ViewTransformer(transformers).fit(views)
    with pytest.raises(ValueError, match="X is ndarray, expected Views"):
        ViewTransformer(PCA()).fit(np.ones((3, 3)))
    with pytest.raises(ValueError, match="expected Views of 'rna', 'image', 'age'"):
        ViewTransformer({}).fit(views).transform(Views({"rna": views["rna"]}))
