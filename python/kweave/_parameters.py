"""Parameters of the estimators. Written by python/generate-parameters from the table of options; do not edit."""
from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, TypeVar

from numpy.typing import ArrayLike

from ._typing import KernelsLike, Progress, RandomState

#: What the values of every option are.
KINDS = {
    'loss': 'str',
    'feature_groups': 'str',
    'C': 'float',
    'epsilon': 'float',
    'nu': 'float',
    'sharpness': 'float',
    'bias': 'bool',
    'norm': 'float',
    'block_norm': 'float',
    'regularizer': 'str',
    'penalty': 'float',
    'weight_bounds': 'intervals',
    'groups': 'str',
    'inner_norm': 'float',
    'matrix': 'str',
    'matrix_on': 'str',
    'ridge': 'float',
    'elastic': 'float',
    'multiclass': 'str',
    'machine_weights': 'str',
    'class_kernels': 'list of str',
    'combine': 'str',
    'restarts': 'int',
    'method': 'str',
    'driver': 'str',
    'solver': 'str',
    'device': 'str',
    'device_memory': 'float',
    'normalize': 'sequence',
    'scale': 'str',
    'missing_views': 'str',
    'gap': 'float',
    'weights_tolerance': 'float',
    'certificate': 'str',
    'max_iterations': 'int',
    'class_C': 'numbers',
    'class_norm': 'numbers',
}

#: Those that may be infinite.
INFINITE = ('norm', 'block_norm', 'inner_norm', 'class_norm')


_Kind = TypeVar("_Kind", bound=type)


def described(kind: _Kind) -> _Kind:
    """The class with its parameters in its docstring, in the place of a line that says ``{parameters}``."""
    if kind.__doc__:  # python -OO has none
        kind.__doc__ = kind.__doc__.replace("    {parameters}\n", kind._described.lstrip("\n")[:-4])  # type: ignore[attr-defined]
    return kind


class ClassifierParameters:
    """Constructor of `MKLClassifier`."""

    _described = """
    kernels : kernel, list of kernels, dict of them by view, or KernelStack, default=None
        Kernels of `kweave.kernels`, texts of the kernel language such as ``"rbf(gamma=[0.1,1,10])"``, or functions
        ``k(X, Z)``. A dictionary has those of each view, ``{'rna': kernel, 'image': [kernel, ...]}``; their parameters
        are reached as in ``kernels__rna__gamma``. None: all matrices of a `KernelStack`, else a linear kernel and
        Gaussians of five widths around the median distance on every view. A `KernelStack` here is held by the
        estimator; samples are then given by their indices in it.
    loss : str, default='auto'
        What errors cost: 'auto', 'hinge', 'squared-hinge', 'smoothed-hinge', 'logistic', 'least-squares'.
    feature_groups : str or dict of str to sequence of str, default=''
        Groups of features by name, of which every kernel without a view is made once for each; a GMT file, a file of
        two columns, feature and group, or both as a JSON object; '': none.
    C : float, default=1.0
        Weight of the losses against the norm of the function; above 0.
    sharpness : float, default=10.0
        With loss smoothed-hinge: the larger, the closer to the hinge; above 0.
    bias : bool, default=True
        Whether the function has a bias; a machine of task oneclass without one has `C` in the place of `nu`.
    norm : float or 'inf', default=2.0
        Norm p on the kernel weights; 1 is sparse, inf is the uniform sum; 1 to inf.
    block_norm : float or 'inf', default=0.0
        Instead of `norm`: block norm P on the parts of the function, P = 2 p / (p + 1) up to 2; 1 to inf; 0: none.
    regularizer : {'norm', 'mixed', 'matrix', 'laplacian', 'elastic', 'entropy', 'logdet'}, default='norm'
        What is asked of the kernel weights.
    penalty : float, default=0.0
        With regularizer norm, mixed, entropy, logdet: a penalty instead of the constraint on the norm: this times the
        sum of the weights for norm 1, half of it times the squared norm above and for mixed; entropy: this times the
        distance of weights that sum to 1 from equal ones; logdet: minus this times the logarithm of the determinant of
        the learned kernel matrix, beside the constraint; above 0; 0: none.
    weight_bounds : dict or array-like of shape (n_kernels, 2), default=None
        With regularizer norm: bounds on the weight of one kernel, by its name or its position from 0, or of all (*),
        within the norm; ``{kernel: (lower, upper)}``, or a pair for each kernel; 0 or more, the lower ones of norm 1 at
        most; None: none.
    groups : str or sequence of str, default=''
        With regularizer mixed: which kernels form a group; view, spec (all kernels of one specification), a file with a
        name on one line per kernel, or the names themselves; '': none.
    inner_norm : float or 'inf', default=2.0
        With regularizer mixed: norm within groups, of the kind of `norm` or `block_norm`; 1 to inf.
    matrix : str or array-like of shape (n_kernels, n_kernels) or (n_kernels,), default=''
        With regularizer matrix, laplacian: a positive definite matrix over the kernels, or the links between them of
        which the Laplacian is taken; a file, as for precomputed kernels, or the array itself (one value per kernel: a
        diagonal matrix); alignment or centered-alignment: how alike the kernels are on the training samples; '': none.
    matrix_on : {'weights', 'parts'}, default='weights'
        With regularizer matrix, laplacian: what the matrix is a norm of: the kernel weights or the parts of the
        function.
    ridge : float, default=0.0
        With regularizer matrix, laplacian, logdet: added to the diagonal of the matrix, with logdet to that of the
        learned kernel; 0 or more.
    elastic : float, default=0.5
        With regularizer elastic: share of the 2-norm of the weights, beside their sum; above 0, at most 1.
    multiclass : {'auto', 'joint', 'ovr', 'ovo'}, default='auto'
        More than two classes: one machine for all of them, one per class against the rest, or one per pair of classes.
    machine_weights : {'own', 'common'}, default='own'
        With multiclass ovr: kernel weights of its own for every machine, or common to all of them, such that the sum of
        their objectives is smallest.
    class_kernels : str, DataFrame, array or dict, or a list of them, default=None
        With multiclass joint: kernels on the classes, multiplied with every other kernel; identity, blocks,
        matrix(file=FILE), taxonomy(file=FILE), an array in the order of the classes, a DataFrame that names them, or a
        dictionary of their places; None: identity.
    combine : {'sum', 'product'}, default='sum'
        What the kernels make together: their weighted sum, or the product of Gaussians whose widths are learned.
    restarts : int, default=2
        With combine product: starting points of the search, of which the best answer is kept; 1 or more.
    method : str, default='auto'
        How the kernel weights move: 'auto', 'analytic', 'analytic+newton', 'cutting-plane', 'cutting-plane-taylor',
        'lbfgs', 'level', 'newton', 'pgd', 'pgd+n', 'pgd+n+s', 'pgd+s', 'projected-quasi-newton', 'reduced-gradient',
        'silp', 'spg', 'spg-max', 'uniform'.
    driver : {'auto', 'wrapper', 'interleaved'}, default='auto'
        When the kernel weights move.
    solver : {'auto', 'smo', 'block', 'linear'}, default='auto'
        How the machine is trained at given kernel weights: pairs of samples, blocks of them, or, if all kernels are
        linear, on their features; smooth losses take Newton steps in the place of the first two.
    device : {'auto', 'cpu', 'cuda'}, default='auto'
        Where kernels are evaluated and machines are trained: on an accelerator as far as it serves them, else on the
        CPU.
    device_memory : float, default=0.0
        Memory of the accelerator to use, in GB; 0: nine tenths of what is free; 0 or more.
    normalize : str, sequence of str or None, default='auto'
        Per kernel, in sequence, with statistics of the training data: 'auto', 'none', 'trace', 'multiplicative',
        'spherical', 'center'; None: 'none'.
    scale : {'none', 'standard', 'minmax'}, default='none'
        What becomes of features before kernels see them, by statistics of the training samples.
    missing_views : {'mean', 'rescale'}, default='mean'
        What a sample without some view is taken for.
    gap : float, default=0.001
        Relative duality gap to reach; product: projected gradient, relative to the objective; above 0, at most 1.
    weights_tolerance : float, default=0.0
        Goes on past the gap until every kernel's share of the sum of the weights is known to this; above 0, at most 1;
        0: none.
    certificate : {'auto', 'table', 'direct'}, default='auto'
        How the certificate evaluates kernels.
    max_iterations : int, default=0
        Moves of the kernel weights at most; 0: the method's own limit; 0 or more.
    class_C : dict, default=None
        With multiclass ovr: C of the machines of single classes, in place of `C`; ``{class: number}``; above 0; None:
        `C` for every class.
    class_norm : dict, default=None
        With multiclass ovr: norm of the machines of single classes, in place of `norm`; ``{class: number}``; 1 to inf;
        None: `norm` for every class.
    class_weight : dict, 'balanced' or None, default=None
        Factors on C for classes, as in scikit-learn.
    probability : bool, default=False
        Whether `predict_proba` is wanted. It costs a cross-validation of five folds inside `fit`; the logistic loss has
        it without.
    warm_start : bool, default=False
        Whether `fit` starts from the weights and duals of the last one. The answer is as good as without and sooner
        there, as along a path over C or norm; it must be the same samples in the same order.
    callback : callable, default=None
        Called a few times a second while training, with a dictionary of 'seconds', 'relative_gap', 'target_gap',
        'iterations', 'solves', 'phase', 'stage' and 'stage_gap'. Training stops with the best model so far when it
        returns True; 'relative_gap' is the gap of that model, 1 as long as nothing is known of it. Where a part of the
        problem is solved first, such as '512 of 4096 samples', 'stage' names it and 'stage_gap' is its gap.
    memory : int or str, default=0
        Bytes to use, or a text such as '2G'; 0: half of what is free.
    time_limit : float, default=0.0
        Seconds after which training stops with the best model so far; 0: none. With ``probability=True`` each fold of
        the calibration has as many.
    n_jobs : int, default=None
        Threads; None: all cores, or in a worker process of joblib its share of them.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples from which data-driven widths are measured; None: 0.
    verbose : int, default=0
        1: progress and notes; 2: details.
    """

    def __init__(
        self,
        kernels: KernelsLike = None,
        *,
        loss: Literal['auto', 'hinge', 'squared-hinge', 'smoothed-hinge', 'logistic', 'least-squares'] = 'auto',
        feature_groups: str | Mapping[str, Sequence[str]] = '',
        C: float = 1.0,
        sharpness: float = 10.0,
        bias: bool = True,
        norm: float | Literal['inf'] = 2.0,
        block_norm: float | Literal['inf'] = 0.0,
        regularizer: Literal['norm', 'mixed', 'matrix', 'laplacian', 'elastic', 'entropy', 'logdet'] = 'norm',
        penalty: float = 0.0,
        weight_bounds: Mapping[Any, tuple[float, float]] | ArrayLike | None = None,
        groups: str | Sequence[str] = '',
        inner_norm: float | Literal['inf'] = 2.0,
        matrix: str | ArrayLike = '',
        matrix_on: Literal['weights', 'parts'] = 'weights',
        ridge: float = 0.0,
        elastic: float = 0.5,
        multiclass: Literal['auto', 'joint', 'ovr', 'ovo'] = 'auto',
        machine_weights: Literal['own', 'common'] = 'own',
        class_kernels: Any = None,
        combine: Literal['sum', 'product'] = 'sum',
        restarts: int = 2,
        method: Literal['auto', 'analytic', 'analytic+newton', 'cutting-plane', 'cutting-plane-taylor', 'lbfgs', 'level', 'newton', 'pgd', 'pgd+n', 'pgd+n+s', 'pgd+s', 'projected-quasi-newton', 'reduced-gradient', 'silp', 'spg', 'spg-max', 'uniform'] = 'auto',
        driver: Literal['auto', 'wrapper', 'interleaved'] = 'auto',
        solver: Literal['auto', 'smo', 'block', 'linear'] = 'auto',
        device: Literal['auto', 'cpu', 'cuda'] = 'auto',
        device_memory: float = 0.0,
        normalize: str | Sequence[str] | None = 'auto',
        scale: Literal['none', 'standard', 'minmax'] = 'none',
        missing_views: Literal['mean', 'rescale'] = 'mean',
        gap: float = 0.001,
        weights_tolerance: float = 0.0,
        certificate: Literal['auto', 'table', 'direct'] = 'auto',
        max_iterations: int = 0,
        class_C: Mapping[Any, float] | None = None,
        class_norm: Mapping[Any, float] | None = None,
        class_weight: Mapping[Any, float] | Literal['balanced'] | None = None,
        probability: bool = False,
        warm_start: bool = False,
        callback: Progress | None = None,
        memory: int | str = 0,
        time_limit: float = 0.0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.feature_groups = feature_groups
        self.C = C
        self.sharpness = sharpness
        self.bias = bias
        self.norm = norm
        self.block_norm = block_norm
        self.regularizer = regularizer
        self.penalty = penalty
        self.weight_bounds = weight_bounds
        self.groups = groups
        self.inner_norm = inner_norm
        self.matrix = matrix
        self.matrix_on = matrix_on
        self.ridge = ridge
        self.elastic = elastic
        self.multiclass = multiclass
        self.machine_weights = machine_weights
        self.class_kernels = class_kernels
        self.combine = combine
        self.restarts = restarts
        self.method = method
        self.driver = driver
        self.solver = solver
        self.device = device
        self.device_memory = device_memory
        self.normalize = normalize
        self.scale = scale
        self.missing_views = missing_views
        self.gap = gap
        self.weights_tolerance = weights_tolerance
        self.certificate = certificate
        self.max_iterations = max_iterations
        self.class_C = class_C
        self.class_norm = class_norm
        self.class_weight = class_weight
        self.probability = probability
        self.warm_start = warm_start
        self.callback = callback
        self.memory = memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class RegressorParameters:
    """Constructor of `MKLRegressor`."""

    _described = """
    kernels : kernel, list of kernels, dict of them by view, or KernelStack, default=None
        Kernels of `kweave.kernels`, texts of the kernel language such as ``"rbf(gamma=[0.1,1,10])"``, or functions
        ``k(X, Z)``. A dictionary has those of each view, ``{'rna': kernel, 'image': [kernel, ...]}``; their parameters
        are reached as in ``kernels__rna__gamma``. None: all matrices of a `KernelStack`, else a linear kernel and
        Gaussians of five widths around the median distance on every view. A `KernelStack` here is held by the
        estimator; samples are then given by their indices in it.
    loss : {'auto', 'epsilon-insensitive', 'squared'}, default='auto'
        What errors cost.
    feature_groups : str or dict of str to sequence of str, default=''
        Groups of features by name, of which every kernel without a view is made once for each; a GMT file, a file of
        two columns, feature and group, or both as a JSON object; '': none.
    C : float, default=1.0
        Weight of the losses against the norm of the function; above 0.
    epsilon : float, default=0.1
        With loss epsilon-insensitive: errors up to this cost nothing; 0 or more.
    bias : bool, default=True
        Whether the function has a bias; a machine of task oneclass without one has `C` in the place of `nu`.
    norm : float or 'inf', default=2.0
        Norm p on the kernel weights; 1 is sparse, inf is the uniform sum; 1 to inf.
    block_norm : float or 'inf', default=0.0
        Instead of `norm`: block norm P on the parts of the function, P = 2 p / (p + 1) up to 2; 1 to inf; 0: none.
    regularizer : {'norm', 'mixed', 'matrix', 'laplacian', 'elastic', 'entropy', 'logdet'}, default='norm'
        What is asked of the kernel weights.
    penalty : float, default=0.0
        With regularizer norm, mixed, entropy, logdet: a penalty instead of the constraint on the norm: this times the
        sum of the weights for norm 1, half of it times the squared norm above and for mixed; entropy: this times the
        distance of weights that sum to 1 from equal ones; logdet: minus this times the logarithm of the determinant of
        the learned kernel matrix, beside the constraint; above 0; 0: none.
    weight_bounds : dict or array-like of shape (n_kernels, 2), default=None
        With regularizer norm: bounds on the weight of one kernel, by its name or its position from 0, or of all (*),
        within the norm; ``{kernel: (lower, upper)}``, or a pair for each kernel; 0 or more, the lower ones of norm 1 at
        most; None: none.
    groups : str or sequence of str, default=''
        With regularizer mixed: which kernels form a group; view, spec (all kernels of one specification), a file with a
        name on one line per kernel, or the names themselves; '': none.
    inner_norm : float or 'inf', default=2.0
        With regularizer mixed: norm within groups, of the kind of `norm` or `block_norm`; 1 to inf.
    matrix : str or array-like of shape (n_kernels, n_kernels) or (n_kernels,), default=''
        With regularizer matrix, laplacian: a positive definite matrix over the kernels, or the links between them of
        which the Laplacian is taken; a file, as for precomputed kernels, or the array itself (one value per kernel: a
        diagonal matrix); alignment or centered-alignment: how alike the kernels are on the training samples; '': none.
    matrix_on : {'weights', 'parts'}, default='weights'
        With regularizer matrix, laplacian: what the matrix is a norm of: the kernel weights or the parts of the
        function.
    ridge : float, default=0.0
        With regularizer matrix, laplacian, logdet: added to the diagonal of the matrix, with logdet to that of the
        learned kernel; 0 or more.
    elastic : float, default=0.5
        With regularizer elastic: share of the 2-norm of the weights, beside their sum; above 0, at most 1.
    combine : {'sum', 'product'}, default='sum'
        What the kernels make together: their weighted sum, or the product of Gaussians whose widths are learned.
    restarts : int, default=2
        With combine product: starting points of the search, of which the best answer is kept; 1 or more.
    method : str, default='auto'
        How the kernel weights move: 'auto', 'analytic', 'analytic+newton', 'cutting-plane', 'cutting-plane-taylor',
        'lbfgs', 'level', 'newton', 'pgd', 'pgd+n', 'pgd+n+s', 'pgd+s', 'projected-quasi-newton', 'reduced-gradient',
        'silp', 'spg', 'spg-max', 'uniform'.
    driver : {'auto', 'wrapper', 'interleaved'}, default='auto'
        When the kernel weights move.
    solver : {'auto', 'smo', 'block', 'linear'}, default='auto'
        How the machine is trained at given kernel weights: pairs of samples, blocks of them, or, if all kernels are
        linear, on their features; smooth losses take Newton steps in the place of the first two.
    device : {'auto', 'cpu', 'cuda'}, default='auto'
        Where kernels are evaluated and machines are trained: on an accelerator as far as it serves them, else on the
        CPU.
    device_memory : float, default=0.0
        Memory of the accelerator to use, in GB; 0: nine tenths of what is free; 0 or more.
    normalize : str, sequence of str or None, default='auto'
        Per kernel, in sequence, with statistics of the training data: 'auto', 'none', 'trace', 'multiplicative',
        'spherical', 'center'; None: 'none'.
    scale : {'none', 'standard', 'minmax'}, default='none'
        What becomes of features before kernels see them, by statistics of the training samples.
    missing_views : {'mean', 'rescale'}, default='mean'
        What a sample without some view is taken for.
    gap : float, default=0.001
        Relative duality gap to reach; product: projected gradient, relative to the objective; above 0, at most 1.
    weights_tolerance : float, default=0.0
        Goes on past the gap until every kernel's share of the sum of the weights is known to this; above 0, at most 1;
        0: none.
    certificate : {'auto', 'table', 'direct'}, default='auto'
        How the certificate evaluates kernels.
    max_iterations : int, default=0
        Moves of the kernel weights at most; 0: the method's own limit; 0 or more.
    warm_start : bool, default=False
        Whether `fit` starts from the weights and duals of the last one. The answer is as good as without and sooner
        there, as along a path over C or norm; it must be the same samples in the same order.
    callback : callable, default=None
        Called a few times a second while training, with a dictionary of 'seconds', 'relative_gap', 'target_gap',
        'iterations', 'solves', 'phase', 'stage' and 'stage_gap'. Training stops with the best model so far when it
        returns True; 'relative_gap' is the gap of that model, 1 as long as nothing is known of it. Where a part of the
        problem is solved first, such as '512 of 4096 samples', 'stage' names it and 'stage_gap' is its gap.
    memory : int or str, default=0
        Bytes to use, or a text such as '2G'; 0: half of what is free.
    time_limit : float, default=0.0
        Seconds after which training stops with the best model so far; 0: none.
    n_jobs : int, default=None
        Threads; None: all cores, or in a worker process of joblib its share of them.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples from which data-driven widths are measured; None: 0.
    verbose : int, default=0
        1: progress and notes; 2: details.
    """

    def __init__(
        self,
        kernels: KernelsLike = None,
        *,
        loss: Literal['auto', 'epsilon-insensitive', 'squared'] = 'auto',
        feature_groups: str | Mapping[str, Sequence[str]] = '',
        C: float = 1.0,
        epsilon: float = 0.1,
        bias: bool = True,
        norm: float | Literal['inf'] = 2.0,
        block_norm: float | Literal['inf'] = 0.0,
        regularizer: Literal['norm', 'mixed', 'matrix', 'laplacian', 'elastic', 'entropy', 'logdet'] = 'norm',
        penalty: float = 0.0,
        weight_bounds: Mapping[Any, tuple[float, float]] | ArrayLike | None = None,
        groups: str | Sequence[str] = '',
        inner_norm: float | Literal['inf'] = 2.0,
        matrix: str | ArrayLike = '',
        matrix_on: Literal['weights', 'parts'] = 'weights',
        ridge: float = 0.0,
        elastic: float = 0.5,
        combine: Literal['sum', 'product'] = 'sum',
        restarts: int = 2,
        method: Literal['auto', 'analytic', 'analytic+newton', 'cutting-plane', 'cutting-plane-taylor', 'lbfgs', 'level', 'newton', 'pgd', 'pgd+n', 'pgd+n+s', 'pgd+s', 'projected-quasi-newton', 'reduced-gradient', 'silp', 'spg', 'spg-max', 'uniform'] = 'auto',
        driver: Literal['auto', 'wrapper', 'interleaved'] = 'auto',
        solver: Literal['auto', 'smo', 'block', 'linear'] = 'auto',
        device: Literal['auto', 'cpu', 'cuda'] = 'auto',
        device_memory: float = 0.0,
        normalize: str | Sequence[str] | None = 'auto',
        scale: Literal['none', 'standard', 'minmax'] = 'none',
        missing_views: Literal['mean', 'rescale'] = 'mean',
        gap: float = 0.001,
        weights_tolerance: float = 0.0,
        certificate: Literal['auto', 'table', 'direct'] = 'auto',
        max_iterations: int = 0,
        warm_start: bool = False,
        callback: Progress | None = None,
        memory: int | str = 0,
        time_limit: float = 0.0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.feature_groups = feature_groups
        self.C = C
        self.epsilon = epsilon
        self.bias = bias
        self.norm = norm
        self.block_norm = block_norm
        self.regularizer = regularizer
        self.penalty = penalty
        self.weight_bounds = weight_bounds
        self.groups = groups
        self.inner_norm = inner_norm
        self.matrix = matrix
        self.matrix_on = matrix_on
        self.ridge = ridge
        self.elastic = elastic
        self.combine = combine
        self.restarts = restarts
        self.method = method
        self.driver = driver
        self.solver = solver
        self.device = device
        self.device_memory = device_memory
        self.normalize = normalize
        self.scale = scale
        self.missing_views = missing_views
        self.gap = gap
        self.weights_tolerance = weights_tolerance
        self.certificate = certificate
        self.max_iterations = max_iterations
        self.warm_start = warm_start
        self.callback = callback
        self.memory = memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class OneClassParameters:
    """Constructor of `MKLOneClass`."""

    _described = """
    kernels : kernel, list of kernels, dict of them by view, or KernelStack, default=None
        Kernels of `kweave.kernels`, texts of the kernel language such as ``"rbf(gamma=[0.1,1,10])"``, or functions
        ``k(X, Z)``. A dictionary has those of each view, ``{'rna': kernel, 'image': [kernel, ...]}``; their parameters
        are reached as in ``kernels__rna__gamma``. None: all matrices of a `KernelStack`, else a linear kernel and
        Gaussians of five widths around the median distance on every view. A `KernelStack` here is held by the
        estimator; samples are then given by their indices in it.
    feature_groups : str or dict of str to sequence of str, default=''
        Groups of features by name, of which every kernel without a view is made once for each; a GMT file, a file of
        two columns, feature and group, or both as a JSON object; '': none.
    C : float, default=1.0
        Weight of the losses against the norm of the function; above 0.
    nu : float, default=0.5
        At most this share of the training samples become outliers; above 0, at most 1.
    bias : bool, default=True
        Whether the function has a bias; a machine of task oneclass without one has `C` in the place of `nu`.
    norm : float or 'inf', default=2.0
        Norm p on the kernel weights; 1 is sparse, inf is the uniform sum; 1 to inf.
    block_norm : float or 'inf', default=0.0
        Instead of `norm`: block norm P on the parts of the function, P = 2 p / (p + 1) up to 2; 1 to inf; 0: none.
    regularizer : {'norm', 'mixed', 'matrix', 'laplacian', 'elastic', 'entropy', 'logdet'}, default='norm'
        What is asked of the kernel weights.
    penalty : float, default=0.0
        With regularizer norm, mixed, entropy, logdet: a penalty instead of the constraint on the norm: this times the
        sum of the weights for norm 1, half of it times the squared norm above and for mixed; entropy: this times the
        distance of weights that sum to 1 from equal ones; logdet: minus this times the logarithm of the determinant of
        the learned kernel matrix, beside the constraint; above 0; 0: none.
    weight_bounds : dict or array-like of shape (n_kernels, 2), default=None
        With regularizer norm: bounds on the weight of one kernel, by its name or its position from 0, or of all (*),
        within the norm; ``{kernel: (lower, upper)}``, or a pair for each kernel; 0 or more, the lower ones of norm 1 at
        most; None: none.
    groups : str or sequence of str, default=''
        With regularizer mixed: which kernels form a group; view, spec (all kernels of one specification), a file with a
        name on one line per kernel, or the names themselves; '': none.
    inner_norm : float or 'inf', default=2.0
        With regularizer mixed: norm within groups, of the kind of `norm` or `block_norm`; 1 to inf.
    matrix : str or array-like of shape (n_kernels, n_kernels) or (n_kernels,), default=''
        With regularizer matrix, laplacian: a positive definite matrix over the kernels, or the links between them of
        which the Laplacian is taken; a file, as for precomputed kernels, or the array itself (one value per kernel: a
        diagonal matrix); alignment or centered-alignment: how alike the kernels are on the training samples; '': none.
    matrix_on : {'weights', 'parts'}, default='weights'
        With regularizer matrix, laplacian: what the matrix is a norm of: the kernel weights or the parts of the
        function.
    ridge : float, default=0.0
        With regularizer matrix, laplacian, logdet: added to the diagonal of the matrix, with logdet to that of the
        learned kernel; 0 or more.
    elastic : float, default=0.5
        With regularizer elastic: share of the 2-norm of the weights, beside their sum; above 0, at most 1.
    combine : {'sum', 'product'}, default='sum'
        What the kernels make together: their weighted sum, or the product of Gaussians whose widths are learned.
    restarts : int, default=2
        With combine product: starting points of the search, of which the best answer is kept; 1 or more.
    method : str, default='auto'
        How the kernel weights move: 'auto', 'analytic', 'analytic+newton', 'cutting-plane', 'cutting-plane-taylor',
        'lbfgs', 'level', 'newton', 'pgd', 'pgd+n', 'pgd+n+s', 'pgd+s', 'projected-quasi-newton', 'reduced-gradient',
        'silp', 'spg', 'spg-max', 'uniform'.
    driver : {'auto', 'wrapper', 'interleaved'}, default='auto'
        When the kernel weights move.
    solver : {'auto', 'smo', 'block', 'linear'}, default='auto'
        How the machine is trained at given kernel weights: pairs of samples, blocks of them, or, if all kernels are
        linear, on their features; smooth losses take Newton steps in the place of the first two.
    device : {'auto', 'cpu', 'cuda'}, default='auto'
        Where kernels are evaluated and machines are trained: on an accelerator as far as it serves them, else on the
        CPU.
    device_memory : float, default=0.0
        Memory of the accelerator to use, in GB; 0: nine tenths of what is free; 0 or more.
    normalize : str, sequence of str or None, default='auto'
        Per kernel, in sequence, with statistics of the training data: 'auto', 'none', 'trace', 'multiplicative',
        'spherical', 'center'; None: 'none'.
    scale : {'none', 'standard', 'minmax'}, default='none'
        What becomes of features before kernels see them, by statistics of the training samples.
    missing_views : {'mean', 'rescale'}, default='mean'
        What a sample without some view is taken for.
    gap : float, default=0.001
        Relative duality gap to reach; product: projected gradient, relative to the objective; above 0, at most 1.
    weights_tolerance : float, default=0.0
        Goes on past the gap until every kernel's share of the sum of the weights is known to this; above 0, at most 1;
        0: none.
    certificate : {'auto', 'table', 'direct'}, default='auto'
        How the certificate evaluates kernels.
    max_iterations : int, default=0
        Moves of the kernel weights at most; 0: the method's own limit; 0 or more.
    warm_start : bool, default=False
        Whether `fit` starts from the weights and duals of the last one. The answer is as good as without and sooner
        there, as along a path over C or norm; it must be the same samples in the same order.
    callback : callable, default=None
        Called a few times a second while training, with a dictionary of 'seconds', 'relative_gap', 'target_gap',
        'iterations', 'solves', 'phase', 'stage' and 'stage_gap'. Training stops with the best model so far when it
        returns True; 'relative_gap' is the gap of that model, 1 as long as nothing is known of it. Where a part of the
        problem is solved first, such as '512 of 4096 samples', 'stage' names it and 'stage_gap' is its gap.
    memory : int or str, default=0
        Bytes to use, or a text such as '2G'; 0: half of what is free.
    time_limit : float, default=0.0
        Seconds after which training stops with the best model so far; 0: none.
    n_jobs : int, default=None
        Threads; None: all cores, or in a worker process of joblib its share of them.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples from which data-driven widths are measured; None: 0.
    verbose : int, default=0
        1: progress and notes; 2: details.
    """

    def __init__(
        self,
        kernels: KernelsLike = None,
        *,
        feature_groups: str | Mapping[str, Sequence[str]] = '',
        C: float = 1.0,
        nu: float = 0.5,
        bias: bool = True,
        norm: float | Literal['inf'] = 2.0,
        block_norm: float | Literal['inf'] = 0.0,
        regularizer: Literal['norm', 'mixed', 'matrix', 'laplacian', 'elastic', 'entropy', 'logdet'] = 'norm',
        penalty: float = 0.0,
        weight_bounds: Mapping[Any, tuple[float, float]] | ArrayLike | None = None,
        groups: str | Sequence[str] = '',
        inner_norm: float | Literal['inf'] = 2.0,
        matrix: str | ArrayLike = '',
        matrix_on: Literal['weights', 'parts'] = 'weights',
        ridge: float = 0.0,
        elastic: float = 0.5,
        combine: Literal['sum', 'product'] = 'sum',
        restarts: int = 2,
        method: Literal['auto', 'analytic', 'analytic+newton', 'cutting-plane', 'cutting-plane-taylor', 'lbfgs', 'level', 'newton', 'pgd', 'pgd+n', 'pgd+n+s', 'pgd+s', 'projected-quasi-newton', 'reduced-gradient', 'silp', 'spg', 'spg-max', 'uniform'] = 'auto',
        driver: Literal['auto', 'wrapper', 'interleaved'] = 'auto',
        solver: Literal['auto', 'smo', 'block', 'linear'] = 'auto',
        device: Literal['auto', 'cpu', 'cuda'] = 'auto',
        device_memory: float = 0.0,
        normalize: str | Sequence[str] | None = 'auto',
        scale: Literal['none', 'standard', 'minmax'] = 'none',
        missing_views: Literal['mean', 'rescale'] = 'mean',
        gap: float = 0.001,
        weights_tolerance: float = 0.0,
        certificate: Literal['auto', 'table', 'direct'] = 'auto',
        max_iterations: int = 0,
        warm_start: bool = False,
        callback: Progress | None = None,
        memory: int | str = 0,
        time_limit: float = 0.0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.feature_groups = feature_groups
        self.C = C
        self.nu = nu
        self.bias = bias
        self.norm = norm
        self.block_norm = block_norm
        self.regularizer = regularizer
        self.penalty = penalty
        self.weight_bounds = weight_bounds
        self.groups = groups
        self.inner_norm = inner_norm
        self.matrix = matrix
        self.matrix_on = matrix_on
        self.ridge = ridge
        self.elastic = elastic
        self.combine = combine
        self.restarts = restarts
        self.method = method
        self.driver = driver
        self.solver = solver
        self.device = device
        self.device_memory = device_memory
        self.normalize = normalize
        self.scale = scale
        self.missing_views = missing_views
        self.gap = gap
        self.weights_tolerance = weights_tolerance
        self.certificate = certificate
        self.max_iterations = max_iterations
        self.warm_start = warm_start
        self.callback = callback
        self.memory = memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
