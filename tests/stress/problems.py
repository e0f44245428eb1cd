"""Random small problems for `kweave train`, each a function of a seed and a number alone.

Every choice that a user has is crossed with every other: tasks and losses, kernels, normalisations, regularisers, ways to learn
several classes, weights of samples; and with what data are like: scales from 1e-12 to 1e12, imbalance, equal samples, constant
features.
"""
import array
import dataclasses
import math
import random
import struct

CLASS_LOSSES = ("hinge", "hinge", "squared-hinge", "smoothed-hinge", "logistic", "least-squares")
NORMS = ("1", "1", "1.01", "1.1", "1.3333333333333333", "1.5", "2", "4", "100", "inf")
BLOCK_NORMS = ("1", "1.2", "1.5", "2", "3", "4", "10", "inf")
NORMALIZATIONS = ("none", "trace", "multiplicative", "spherical", "center", "center,trace", "center,spherical",
                  "spherical,multiplicative", "trace,center,multiplicative")
# Of kernels that any features serve; the widths are those of the data, or not.
SHAPES = ("linear", "linear", "rbf", "rbf", "rbf(gamma=1)", "rbf(gamma=median*[0.1,1,10])", "rbf(gamma=logspace(1e-3,1e3,7))",
          "poly(degree=2)", "poly(degree=1..3,coef0=[0,1])", "laplacian", "laplacian(gamma=median)", "matern", "matern(nu=2.5)",
          "rational_quadratic", "periodic", "cosine", "tanimoto", "rbf*linear", "rbf+linear", "mean(rbf,linear,poly)")
HISTOGRAM_SHAPES = ("chi2", "chi2(gamma=median*[0.1,1])", "intersection")
PER_FEATURE_SHAPES = ("linear", "linear", "rbf", "rbf(gamma=median*[0.1,1])", "rbf(gamma=1)", "poly(degree=2)", "laplacian")
# How many kernels a shape makes.
COUNTS = {"rbf(gamma=median*[0.1,1,10])": 3, "rbf(gamma=logspace(1e-3,1e3,7))": 7, "poly(degree=1..3,coef0=[0,1])": 6,
          "chi2(gamma=median*[0.1,1])": 2, "rbf(gamma=median*[0.1,1])": 2}
MOST_KERNELS = 40
# Matrices on disk are written by plain loops.
MOST_PRECOMPUTED = 120


@dataclasses.dataclass
class Problem:
    """What `kweave train` is given."""

    files: dict = dataclasses.field(default_factory=dict)  # by name, the content
    data: list = dataclasses.field(default_factory=list)  # arguments that verify gets, too
    options: list = dataclasses.field(default_factory=list)


class Maker:
    """Makes one problem; every method draws a part of it."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}/{number}")
        self.problem = Problem()
        self.kernels = []  # (specification, view, how many kernels)

    def chance(self, share):
        return self.random.random() < share

    def pick(self, choices):
        return self.random.choice(choices)

    def log_uniform(self, least, most):
        return 10 ** self.random.uniform(math.log10(least), math.log10(most))

    def option(self, name, value):
        self.problem.options += [name, value if isinstance(value, str) else repr(value)]

    def make(self):
        self.task = self.pick(("classify",) * 6 + ("regress",) * 3 + ("oneclass",) * 2)
        self.count = round(self.log_uniform(5, 300))
        self.is_product = self.task != "oneclass" and self.chance(0.06)
        self.classes = self.pick((3, 4, 5)) if self.task == "classify" and not self.is_product and self.chance(0.3) else 2
        self.classes = min(self.classes, self.count)
        self.make_views()
        self.make_targets()
        self.make_duplicates()
        self.write_data()
        self.choose_task()
        self.choose_kernels()
        self.choose_regularizer()
        self.choose_classes()
        self.choose_costs()
        self.choose_rest()
        return self.problem

    # Samples.

    def make_views(self):
        names = ["data"] + ["second", "third"][:self.pick((0, 0, 0, 1, 2))]
        self.views = {name: self.make_features() for name in names}
        self.histograms = {name for name, rows in self.views.items() if all(v >= 0 for row in rows for v in row)}

    def make_features(self):
        features = self.pick((1, 2, 3, 4, 6, 10))
        scale = self.log_uniform(1e-12, 1e12) if self.chance(0.4) else 1.0
        scales = [scale * (self.log_uniform(1e-6, 1e6) if is_mixed else 1) for is_mixed in [self.chance(0.15)] * features]
        offset = self.pick((1.0, 100.0, 1e4)) if self.chance(0.15) else 0.0
        is_positive, is_discrete = self.chance(0.2), self.chance(0.1)
        rows = []
        for _ in range(self.count):
            values = [self.random.gauss(0, 1) + offset for _ in range(features)]
            if is_discrete:
                values = [float(round(value)) for value in values]
            rows.append([(abs(value) if is_positive else value) * s for value, s in zip(values, scales)])
        if self.chance(0.2):
            constants = range(features) if self.chance(0.2) else [self.random.randrange(features)]
            for j in constants:
                value = self.pick((0.0, 0.1, 1.0)) * scales[j]
                for row in rows:
                    row[j] = value
        return rows

    def signal(self, i):
        """A function of the sample that does not depend on the units of its features."""
        total = 0.0
        for rows in self.views.values():
            size = max(abs(row[0]) for row in rows) or 1.0
            value = 3 * rows[i][0] / size
            total += value - (rows[i][-1] / (max(abs(row[-1]) for row in rows) or 1.0)) ** 2
        return total + self.noise * self.random.gauss(0, 1)

    def make_targets(self):
        self.noise = self.pick((0.0, 0.1, 1.0, 10.0))
        values = [self.signal(i) for i in range(self.count)]
        if self.task == "regress":
            self.unit = self.log_uniform(1e-12, 1e12) if self.chance(0.5) else 1.0
            offset = 1e3 if self.chance(0.1) else 0.0
            self.targets = [self.unit * (value + offset) for value in values]
        else:
            self.targets = self.to_classes(values)

    def to_classes(self, values):
        """The classes cut the order of the values into parts, of the same size or of very different ones."""
        shares = [1.0] * self.classes
        if self.chance(0.35):
            shares = [self.log_uniform(1e-3, 1) for _ in shares]
        order = sorted(range(self.count), key=lambda i: values[i])
        sizes = [max(1, round(self.count * share / sum(shares))) for share in shares]
        sizes[sizes.index(max(sizes))] += self.count - sum(sizes)
        labels, start = [0] * self.count, 0
        for k, size in enumerate(sizes):
            for i in order[start:start + size]:
                labels[i] = k
            start += size
        return labels

    def make_duplicates(self):
        if not self.chance(0.2):
            return
        share, is_consistent = self.pick((0.1, 0.5, 0.9)), self.chance(0.5)
        classes = set(self.targets)
        for i in range(1, self.count):
            if self.chance(share):
                source = self.random.randrange(i)
                for rows in self.views.values():
                    rows[i] = list(rows[source])
                if is_consistent:
                    self.targets[i] = self.targets[source]
        if self.task != "regress" and set(self.targets) != classes:  # every class keeps a sample
            for i, label in enumerate(sorted(classes)):
                self.targets[i] = label

    def write_data(self):
        names = {0: "-1", 1: "1"} if self.classes == 2 else {k: f"class{k}" for k in range(self.classes)}
        for view, rows in self.views.items():
            has_labels = view == "data" and self.task != "oneclass"
            lines = [",".join((["label"] if has_labels else []) + [f"x{j + 1}" for j in range(len(rows[0]))])]
            for target, row in zip(self.targets, rows):
                label = [repr(target) if self.task == "regress" else names[target]] if has_labels else []
                lines.append(",".join(label + [repr(value) for value in row]))
            self.problem.files[f"{view}.csv"] = "\n".join(lines) + "\n"
            self.problem.data += ["data.csv"] if view == "data" else ["--view", f"{view}={view}.csv"]
        self.labels = [names[k] for k in range(self.classes)]

    # Options.

    def choose_task(self):
        if self.task != "classify" or self.chance(0.1):
            self.option("--task", self.task)
        if self.task == "classify":
            self.loss = self.pick(CLASS_LOSSES)
            self.option("--loss", self.loss)
            if self.loss == "smoothed-hinge" and self.chance(0.5):
                self.option("--sharpness", self.log_uniform(0.1, 1e3))
        elif self.task == "regress":
            self.loss = self.pick(("epsilon-insensitive", "epsilon-insensitive", "squared"))
            self.option("--loss", self.loss)
            if self.loss == "epsilon-insensitive":
                self.option("--epsilon", self.pick((0.0, 0.1 * self.unit, 0.1 * self.unit, self.unit, 0.1)))
        if self.chance(0.1):
            self.option("--bias", "off")
            self.has_bias = False
        else:
            self.has_bias = True
        if self.task == "oneclass" and self.has_bias:
            self.option("--nu", self.pick((0.01, 0.1, 0.5, 0.9, 1.0, self.random.uniform(0.001, 1))))

    def choose_kernels(self):
        if self.is_product:
            self.add_kernel(self.pick(("each(rbf)", "each(rbf)", "each(rbf(gamma=10))", "rbf")), "data", len(self.views["data"][0]))
            return
        if self.chance(0.08):
            self.kernels = [("default", view, 6) for view in self.views]
            return
        for _ in range(self.pick((1, 1, 2, 2, 3, 4))):
            view = self.pick(list(self.views))
            features = len(self.views[view][0])
            if self.chance(0.08) and self.count <= MOST_PRECOMPUTED:
                self.add_precomputed(view)
            elif self.chance(0.35):
                shape = self.pick(PER_FEATURE_SHAPES)
                self.add_kernel(f"each({shape})@{view}", view, features * COUNTS.get(shape, 1))
            else:
                shape = self.pick(SHAPES + (HISTOGRAM_SHAPES if view in self.histograms else ()))
                self.add_kernel(f"({shape})@{view}", view, COUNTS.get(shape, 1))

    def add_kernel(self, specification, view, count):
        if sum(kernel[2] for kernel in self.kernels) + count <= MOST_KERNELS:
            self.kernels.append((specification, view, count))
            self.option("--kernel", specification)

    def add_precomputed(self, view):
        """A matrix on disk: a Gaussian, or one of low rank."""
        name = f"K{len(self.kernels)}.npy"
        rows = self.views[view]
        sizes = [max(abs(value) for value in column) or 1.0 for column in zip(*rows)]
        rows = [[value / size for value, size in zip(row, sizes)] for row in rows]
        unit = self.log_uniform(1e-12, 1e12) if self.chance(0.3) else 1.0
        if self.chance(0.5):
            matrix = [[unit * math.exp(-sum((a - b) ** 2 for a, b in zip(x, z))) for z in rows] for x in rows]
        else:
            matrix = [[unit * sum(a * b for a, b in zip(x, z)) for z in rows] for x in rows]
        self.problem.files[name] = npy_bytes(matrix)
        self.add_kernel(f"precomputed(file={name})", None, 1)

    @property
    def kernel_count(self):
        return sum(kernel[2] for kernel in self.kernels)

    def choose_regularizer(self):
        forms = [self.norm] * 6 + [self.block_norm] * 2 + [self.norm_penalty] * 3 + [self.entropy, self.logdet]
        if not self.is_product:
            forms += [self.weight_bounds, self.mixed, self.mixed, self.matrix, self.laplacian, self.elastic]
        else:
            forms = [form for form in forms if form != self.block_norm]
        self.form = self.pick(forms)
        self.form()

    def norm(self):
        if self.chance(0.8):
            self.option("--norm", self.pick(NORMS))

    def block_norm(self):
        self.option("--block-norm", self.pick(BLOCK_NORMS))

    def norm_penalty(self):
        self.norm()
        self.option("--penalty", self.log_uniform(1e-4, 1e3))

    def weight_bounds(self):
        self.norm()
        upper = self.pick(("", "1", "0.5", repr(1 / self.kernel_count)))
        lower = self.pick(("", "0", repr(self.random.uniform(0, 0.9) / self.kernel_count)))
        self.option("--weight-bounds", f"{self.pick(('*', '1'))}={lower}..{upper}")

    def mixed(self):
        self.option("--regularizer", "mixed")
        kind = self.pick(("view", "spec", "file"))
        if kind == "file":
            kind = "groups.txt"
            self.problem.files[kind] = "".join(f"{self.pick('abc')}\n" for _ in range(self.kernel_count))
        elif kind == "view" and any(view is None for _, view, _ in self.kernels):
            kind = "spec"
        self.option("--groups", kind)
        is_block = self.chance(0.4)
        self.option("--block-norm" if is_block else "--norm", self.pick(BLOCK_NORMS if is_block else NORMS))
        self.option("--inner-norm", self.pick(BLOCK_NORMS if is_block else NORMS))
        if self.chance(0.3):
            self.option("--penalty", self.log_uniform(1e-3, 1e2))

    def matrix(self):
        self.option("--regularizer", "matrix")
        count = self.kernel_count
        kind = self.pick(("diagonal", "full", "alignment", "centered-alignment"))
        if kind == "diagonal":
            self.problem.files["E.txt"] = "".join(f"{self.log_uniform(0.1, 10)!r}\n" for _ in range(count))
        elif kind == "full":
            factor = [[self.random.gauss(0, 1) for _ in range(count)] for _ in range(count)]
            rows = [[sum(a * b for a, b in zip(x, z)) / count + (0.1 if x is z else 0) for z in factor] for x in factor]
            self.problem.files["E.txt"] = "".join(" ".join(map(repr, row)) + "\n" for row in rows)
        self.option("--matrix", "E.txt" if "E.txt" in self.problem.files else kind)
        if kind.endswith("alignment"):
            self.option("--ridge", self.pick((0.01, 0.1, 1.0)))
        self.option("--matrix-on", self.pick(("weights", "parts")))

    def laplacian(self):
        self.option("--regularizer", "laplacian")
        count = self.kernel_count
        links = [[0.0] * count for _ in range(count)]
        for i in range(count):
            for j in range(i):
                links[i][j] = links[j][i] = float(self.chance(0.4))
        self.problem.files["links.txt"] = "".join(" ".join(map(repr, row)) + "\n" for row in links)
        self.option("--matrix", "links.txt")
        self.option("--ridge", self.pick((0.1, 1.0)))
        self.option("--matrix-on", self.pick(("weights", "parts")))

    def elastic(self):
        self.option("--regularizer", "elastic")
        self.option("--elastic", self.pick((0.01, 0.1, 0.5, 0.9, 1.0)))

    def entropy(self):
        self.option("--regularizer", "entropy")
        self.option("--penalty", self.log_uniform(1e-3, 1e2))

    def logdet(self):
        self.option("--regularizer", "logdet")
        if self.chance(0.8):
            self.option("--norm", self.pick(NORMS))
        self.option("--penalty", self.log_uniform(1e-3, 10))
        if self.chance(0.5):
            self.option("--ridge", self.pick((0.01, 0.1)))

    def choose_classes(self):
        if self.classes == 2 or self.task != "classify":
            return
        way = self.pick(("ovr", "ovo", "joint", "joint", None))
        if way:
            self.option("--multiclass", way)
        if way == "ovr" and self.chance(0.3):
            self.option("--machine-weights", "common")
        if way == "joint" and self.form == self.norm and self.chance(0.3):
            self.option("--class-kernel", "identity")
            self.option("--class-kernel", "blocks")

    def choose_costs(self):
        if self.task == "oneclass" and self.has_bias:
            pass
        elif self.task == "regress" and self.loss == "epsilon-insensitive" and self.chance(0.5):
            self.option("-C", self.unit * self.log_uniform(1e-3, 1e3))
        elif self.chance(0.9):
            self.option("-C", self.log_uniform(1e-6, 1e8))
        if self.task == "classify" and self.chance(0.1):
            self.option("--class-weight", f"{self.pick(self.labels)}={self.log_uniform(1e-3, 1e3)!r}")
        if self.chance(0.15):
            weights = [0.0 if self.chance(0.05) else self.log_uniform(1e-3, 1e3) for _ in range(self.count)]
            for label in set(self.targets) if self.task == "classify" else ():
                weights[self.targets.index(label)] = 1.0
            self.problem.files["weights.txt"] = "".join(f"{weight!r}\n" for weight in weights)
            self.option("--weights", "weights.txt")

    def choose_rest(self):
        if self.is_product:
            self.problem.options += ["--combine", "product"]
        elif self.chance(0.5):
            self.option("--normalize", self.pick(NORMALIZATIONS))
        if self.chance(0.1):
            self.option("--gap", "1e-5")
        if self.chance(0.05) and not self.is_product:
            self.option("--driver", "interleaved")


def npy_bytes(rows):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * ((-11 - len(header)) % 64) + "\n"
    values = array.array("d", [value for row in rows for value in row])
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes()


def make_problem(seed, number):
    return Maker(seed, number).make()
