"""Problems at the edge of what double precision can tell, which must end at their optimum all the same."""
import json
import math
import random
import unittest

from support import FolderTest, csv_text, libsvm_text, npy_bytes, run


def normals(count, features, seed, size=1.0):
    generator = random.Random(seed)
    return [[size * generator.gauss(0, 1) for _ in range(features)] for _ in range(count)], generator


class Edges(FolderTest):
    def converges(self, labels, rows, *arguments):
        self.write("d.csv", csv_text(labels, rows))
        summary = self.train("d.csv", *arguments)
        self.assertEqual(summary["status"], "converged")
        self.assertLessEqual(summary["relative_gap"], 1e-3)
        return summary

    def test_a_constant_feature_gets_no_weight_at_any_size(self):
        for count in (10, 77, 333, 500):
            rows, generator = normals(count, 2, count)
            labels = [1 if row[0] + generator.gauss(0, 0.5) > 0 else -1 for row in rows]
            summary = self.converges(labels, [[*row, 0.1] for row in rows], "--kernel", "each(linear)")
            self.assertEqual(summary["kernels"][2]["weight"], 0, count)
            self.assertLess(abs(summary["bias"]), 10, count)

    def test_constant_features_alone_leave_the_majority(self):
        summary = self.converges([1, -1] * 54, [[0.1, 0.3]] * 108, "--kernel", "linear")
        self.assertEqual((summary["primal"], summary["dual"]), (108, 108))

    def test_one_class_around_the_origin_has_the_optimum_zero(self):
        for count in (48, 300):
            rows, _ = normals(count, 3, count)
            means = [sum(column) / count for column in zip(*rows)]
            rows = [[value - mean for value, mean in zip(row, means)] for row in rows]
            for options in (["--kernel", "linear", "--normalize", "none"], ["--kernel", "rbf", "--normalize", "center"],
                            ["--kernel", "each(rbf)", "--normalize", "center", "--norm", 1],
                            ["--kernel", "each(linear)", "--kernel", "rbf", "--normalize", "center", "--nu", 0.1]):
                summary = self.converges([1] * count, rows, "--task", "oneclass", *options)
                self.assertLess(abs(summary["primal"]), 1e-8)
                self.assertLess(summary["seconds"]["total"], 2)  # it took up to 11

    def test_one_class_gaps_are_relative_to_the_kernels_at_any_scale(self):
        for size in (1e-6, 1e6):
            rows, _ = normals(60, 3, 7, size=size)
            summary = self.converges([1] * 60, rows, "--task", "oneclass", "--kernel", "linear", "--normalize", "none",
                                     "--nu", 0.9)
            self.assertLess(abs(summary["primal"]), 1e-2 * size ** 2)

    def same_path_in_other_units(self, train):
        """`train` trains in units that are `scale` times as large and returns the summary and the unit of the objective."""
        def course(scale):
            summary, unit = train(scale)
            return ([summary["status"], summary["solves"], summary["iterations"]],
                    summary["relative_gap"], summary["primal"] / unit, summary["dual"] / unit)
        steps, gap, primal, dual = course(1.0)
        self.assertEqual(steps[0], "converged")
        for exponent in (-40, -20, 20, 40):  # 1e-12 to 1e12, by factors that round nothing
            other_steps, other_gap, other_primal, other_dual = course(2.0 ** exponent)
            self.assertEqual(other_steps, steps, exponent)
            self.assertAlmostEqual(other_gap, gap, 12, exponent)
            self.assertAlmostEqual(other_primal / primal, 1, 9, exponent)
            self.assertAlmostEqual(other_dual / dual, 1, 9, exponent)

    def test_targets_in_other_units_take_the_same_path(self):
        rows, generator = normals(60, 3, 3)
        targets = [row[0] - row[1] ** 2 + generator.gauss(0, 0.1) for row in rows]
        for kernel in ("rbf(gamma=[0.1,1])", "each(rbf)", "each(linear)", "poly(degree=2)"):
            for norm in (1, 2):
                for loss in ("epsilon-insensitive", "squared"):
                    def train(scale):
                        self.write("d.csv", csv_text([scale * target for target in targets], rows))
                        cost = scale if loss == "epsilon-insensitive" else 1
                        return self.train("d.csv", "--task", "regress", "--loss", loss, "-C", repr(cost), "--epsilon",
                                          repr(0.1 * scale), "--kernel", kernel, "--norm", norm), scale ** 2
                    with self.subTest(kernel=kernel, norm=norm, loss=loss):
                        self.same_path_in_other_units(train)

    def test_kernels_in_other_units_take_the_same_path(self):
        rows, generator = normals(60, 3, 3)
        labels = [1 if row[0] - row[1] ** 2 + generator.gauss(0, 0.1) > -1 else -1 for row in rows]
        for kernel, degree in (("each(linear)", 1), ("poly(degree=2,gamma=1,coef0=0)", 2)):
            for loss in ("hinge", "squared-hinge", "smoothed-hinge", "logistic", "least-squares"):
                def train(scale):
                    self.write("d.csv", csv_text(labels, [[value * scale ** (0.5 / degree) for value in row] for row in rows]))
                    return self.train("d.csv", "--loss", loss, "-C", repr(1 / scale), "--kernel", kernel, "--normalize",
                                      "none"), 1 / scale
                with self.subTest(kernel=kernel, loss=loss):
                    self.same_path_in_other_units(train)

    def test_small_targets_at_a_fixed_cost(self):
        for size in (1e-12, 1e-6, 1e-3):
            for kernel in ("rbf", "rbf(gamma=[0.1,1])", "each(rbf)", "each(linear)"):
                rows, generator = normals(80, 4, 5)
                targets = [size * (row[0] - row[1] ** 2 + generator.gauss(0, 0.1)) for row in rows]
                for loss in ("epsilon-insensitive", "squared"):
                    self.converges(targets, rows, "--task", "regress", "--loss", loss, "--kernel", kernel, "--epsilon",
                                   repr(0.1 * size))

    def test_smooth_losses_at_large_costs(self):
        for loss, cost in (("squared-hinge", "1e5"), ("smoothed-hinge", "1e4"), ("logistic", "1e6")):
            for kernel in ("rbf(gamma=1)", "rbf(gamma=[0.01,0.1,1])", "each(rbf)"):
                for seed in (1, 2):
                    rows, generator = normals(60, 4, seed)
                    labels = [1 if row[0] + generator.gauss(0, 0.3) > 0 else -1 for row in rows]
                    for norm in ("1", "2"):
                        self.converges(labels, rows, "--loss", loss, "-C", cost, "--kernel", kernel, "--norm", norm)

    def test_features_beyond_single_precision(self):
        rows, generator = normals(40, 4, 1)
        labels = [1 if row[1] + generator.gauss(0, 0.3) > 0 else -1 for row in rows]
        for kernel in ("each(linear)", "linear"):
            self.converges(labels, [[1e100 * row[0], *row[1:]] for row in rows], "--kernel", kernel)

    def test_a_huge_value_hides_no_other(self):
        for features in (3, 12):  # distances as sums of differences, and by matrix products
            for huge, count in ((1e20, 1), (1e20, 5), (9.96921e36, 20)):
                rows, generator = normals(30, features, 1)
                labels = [1 if row[1] + generator.gauss(0, 0.3) > 0 else -1 for row in rows]
                for row in rows[:count]:
                    row[0] = huge
                # Every model is verified by differences of the values themselves.
                for kernel in ("rbf(gamma=1)", "rbf(gamma=[0.01,0.1,1,10])", "each(rbf(gamma=1))", "laplacian", "matern",
                               "rbf(gamma=1)*rbf(gamma=0.1)"):
                    self.converges(labels, rows, "--kernel", kernel, "--normalize", "none")

    def test_a_huge_value_is_noted(self):
        rows, _ = normals(30, 3, 1)
        rows[7][2] = 9.96921e36
        self.write("d.csv", csv_text([1, -1] * 15, rows))
        result = run("train", "d.csv", "--kernel", "rbf(gamma=1)", "-o", "m.kweave", cwd=self.folder)
        self.assertRegex(result.stderr, r"kweave: the largest value dwarfs the others, as marks of missing values do: column 'x3' of "
                                        r"view 'data' \(9\.96921e\+36, where 0\.\d+ is usual\)\n")

    def test_distances_that_products_cannot_tell_are_not_certified(self):
        # Two far groups of more samples than differences are taken of, given as sparse rows: distances are found by products alone,
        # and no digit within a group is left.
        generator = random.Random(1)
        rows = [[(1e9 if i % 2 else -1e9) * 2**0.5] + [generator.gauss(0, 1) for _ in range(9)] for i in range(520)]
        labels = [1 if row[1] > 0 else -1 for row in rows]
        self.write("d.libsvm", libsvm_text(labels, rows))
        result = run("train", "d.libsvm", "--kernel", "rbf(gamma=1)", "--normalize", "none", "-q", "-o", "m.kweave",
                     cwd=self.folder)
        self.assertEqual(result.returncode, 5)

    def test_matrices_whose_digits_are_lost_are_not_certified(self):
        rows, generator = normals(30, 3, 1)
        labels = [1 if row[0] + generator.gauss(0, 0.5) > 0 else -1 for row in rows]
        self.write("y.txt", "".join(f"{label}\n" for label in labels))
        for constant, status in ((0, 0), (1e8, 0), (1e12, 5), (1e15, 5)):
            matrix = [[constant + math.exp(-sum((a - b) ** 2 for a, b in zip(x, z))) for z in rows] for x in rows]
            self.write("K.npy", npy_bytes(matrix))
            result = run("train", "--labels", "y.txt", "--kernel", "precomputed(file=K.npy)", "--normalize", "none", "-q", "-o",
                         "m.kweave", cwd=self.folder)
            self.assertEqual(result.returncode, status, constant)

    def test_hierarchical_norms_across_2_on_kernels_of_rank_one(self):
        self.write("groups.txt", "".join(f"{group}\n" for group in "aabbccdd"))
        gaps = []
        for outer, inner in ((4, 1), (1, "inf")):
            for seed in range(1, 7):  # docs/dev/limits.md: 0 is one that stays open
                rows, generator = normals(60, 8, seed)
                labels = [1 if row[0] + row[3] + generator.gauss(0, 0.5) > 0 else -1 for row in rows]
                self.write("d.csv", csv_text(labels, rows))
                summary = self.train("d.csv", "--kernel", "each(linear)", "--regularizer", "mixed", "--groups", "groups.txt",
                                     "--block-norm", outer, "--inner-norm", inner, "--accept-partial")
                gaps.append(summary["relative_gap"])
        # On some processors seed 2 with 1 over inf stays open at 1.02e-3 (docs/dev/limits.md).
        self.assertLessEqual(sum(gap > 1e-3 for gap in gaps), 1, gaps)
        self.assertLess(max(gaps), 1.1e-3)

    def test_hierarchical_norms_without_weights_are_refused(self):
        self.write("groups.txt", "a\na\nb\n")
        rows, _ = normals(30, 3, 1)
        self.write("d.csv", csv_text([1 if row[0] > 0 else -1 for row in rows], rows))
        result = run("train", "d.csv", "--kernel", "each(linear)", "--regularizer", "mixed", "--groups", "groups.txt", "--block-norm",
                     "inf", "--inner-norm", 1, "-o", "m.kweave", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("has no kernel weights at its optimum; give an --inner-norm above 1", result.stderr)

    def test_a_tighter_gap_never_gives_a_worse_model(self):
        for seed in range(6):
            rows, generator = normals(50, 4, seed)
            labels = [1 if row[0] * row[1] + generator.gauss(0, 0.3) > 0 else -1 for row in rows]
            primals = []
            for gap in (1e-3, 1e-5, 1e-6):
                summary = self.converges(labels, rows, "--kernel", "each(rbf)", "--regularizer", "logdet", "--penalty", 0.1,
                                         "--norm", 1, "--loss", "logistic", "--gap", gap)
                self.assertLessEqual(summary["relative_gap"], gap)
                primals.append(summary["primal"])
            self.assertEqual(primals, sorted(primals, reverse=True), seed)

    def test_weights_inside_solves(self):
        rows, generator = normals(60, 4, 1)
        labels = [max(range(3), key=lambda k: row[k] + generator.gauss(0, 0.3)) for row in rows]
        self.write("d.csv", csv_text(labels, rows))
        inside = ("--multiclass", "joint", "--kernel", "each(rbf)", "--driver", "interleaved")
        refused = run("train", "d.csv", *inside, "--method", "projected-quasi-newton", "-o", "m.kweave", cwd=self.folder)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("whole solves", refused.stderr)
        for options in ((), ("--norm", 1), ("--norm", 1, "--penalty", 0.1)):
            self.converges(labels, rows, *inside, *options)
        two = [1 if label else -1 for label in labels]
        self.converges(two, rows, "--kernel", "each(rbf)", "--norm", 1, "--penalty", 0.1, "--driver", "interleaved")

    def test_solvers_that_a_smooth_loss_does_not_take_are_named(self):
        rows, _ = normals(20, 2, 1)
        self.write("d.csv", csv_text([1 if row[0] > 0 else -1 for row in rows], rows))
        for loss, is_named in (("logistic", True), ("hinge", False)):
            result = run("train", "d.csv", "--loss", loss, "--solver", "smo", "-o", "m.kweave", cwd=self.folder)
            self.assertEqual(result.returncode, 0)
            self.assertEqual("not by --solver smo" in result.stderr, is_named)

    def test_positions_of_stored_samples_are_within_the_data(self):
        rows, _ = normals(20, 2, 1)
        self.write("d.csv", csv_text([1 if row[0] > 0 else -1 for row in rows], rows))
        self.write("w.txt", "0\n" * 8 + "1\n" * 12)
        self.train("d.csv", "--weights", "w.txt")
        content = json.loads(self.succeed("inspect", "--json", "m.kweave"))
        self.assertEqual((content["training_count"], content["data_count"]), (12, 20))
        self.assertLess(max(content["sample_indices"]), content["data_count"])

    def test_unnormalised_regression_without_a_tube(self):
        for seed in (1, 2, 3):
            rows, generator = normals(80, 5, seed, size=60)
            targets = [row[0] - 2 * row[1] + generator.gauss(0, 3) for row in rows]
            self.converges(targets, rows, "--task", "regress", "--kernel", "linear", "--kernel", "poly(degree=2)",
                           "--normalize", "none", "-C", 189, "--epsilon", 0)

    def test_determinants_whose_price_is_negative(self):
        # Here beta = 0 bounds the objective by the price alone, which is below 0.
        for seed in range(4):
            rows, generator = normals(20, 2, seed)
            labels = [1 if row[0] > 0 else -1 for row in rows]
            for norm in (1, 2, "inf"):
                summary = self.converges(labels, rows, "--kernel", "each(rbf)", "--kernel", "rbf", "--regularizer", "logdet",
                                         "--penalty", 10, "--ridge", 10, "-C", 0.01, "--norm", norm)
                self.assertLess(summary["primal"], 0)
                self.assertLessEqual(summary["dual"], summary["primal"])

    def test_determinants_that_digits_do_not_tell_end_at_once(self):
        rows, _ = normals(124, 3, 1, size=1e10)
        self.write("d.csv", csv_text([], rows))
        result = run("train", "d.csv", "--task", "oneclass", "--kernel", "each(linear)", "--kernel", "matern", "--normalize",
                     "none", "--regularizer", "logdet", "--penalty", 0.05, "--gap", 1e-5, "-q", "-o", "m.kweave", cwd=self.folder,
                     timeout=60)  # it went on for ever
        self.assertIn(result.returncode, (0, 5))

    def test_entropy_of_weights_beside_tiny_targets(self):
        rows, generator = normals(40, 2, 3)
        targets = [1e-11 * (row[0] + generator.gauss(0, 0.1)) for row in rows]
        for penalty in (1, 73):
            self.converges(targets, rows, "--task", "regress", "--loss", "squared", "-C", 4e4, "--kernel", "each(rbf)", "--kernel",
                           "linear", "--regularizer", "entropy", "--penalty", penalty)

    def test_one_kernel_of_huge_values_leaves_the_digits_of_others(self):
        rows, generator = normals(60, 2, 1)
        labels = [1 if row[0] + generator.gauss(0, 0.3) > 0 else -1 for row in rows]
        self.write("y.txt", "".join(f"{label}\n" for label in labels))
        for name, unit in (("K.npy", 1), ("L.npy", 1e13)):
            self.write(name, npy_bytes([[unit + math.exp(-sum((a - b) ** 2 for a, b in zip(x, z))) for z in rows] for x in rows]))
        summary = self.train("--labels", "y.txt", "--kernel", "precomputed(file=K.npy)", "--kernel", "precomputed(file=L.npy)",
                             "--normalize", "none", "--weight-bounds", "2=..1e-12", "--norm", 1)
        self.assertEqual(summary["status"], "converged")

    def test_narrow_kernels_of_far_samples(self):
        # Norms of neighbours are alike, so that products would leave their distances open by more than a width.
        rows, generator = normals(68, 10, 4, size=1e7)
        targets = [row[0] / 1e7 + generator.gauss(0, 0.1) for row in rows]
        self.converges(targets, rows, "--task", "regress", "--kernel", "rbf(gamma=logspace(1e-3,1e3,7))", "--norm", "inf", "-C", 753,
                       "--normalize", "trace")

    def test_samples_have_no_distance_to_themselves(self):
        # More samples than differences are taken of: products left one that narrow kernels saw, and a false certificate.
        generator = random.Random(5)
        labels, rows = [], []
        for _ in range(600):
            labels.append(generator.choice((1, -1)))
            rows.append([0.0] + [3e7 * generator.gauss(0, 1) for _ in range(9)])
        self.converges(labels, rows, "--loss", "least-squares", "--kernel", "rbf(gamma=logspace(1e-3,1e3,7))", "--kernel", "rbf", "-C",
                       4564, "--normalize", "center")

    def test_products_of_what_does_not_vary(self):
        for loss in ("least-squares", "logistic", "hinge"):
            for penalty in ([], ["--penalty", 88]):
                rows = [[21020.523759565607, 2102.052375956561]] * 220
                labels = [1 if i % 4 else -1 for i in range(220)]
                self.write("w.txt", "".join(f"{1 + i % 7 / 7}\n" for i in range(220)))
                self.converges(labels, rows, "--combine", "product", "--loss", loss, "--kernel", "each(rbf(gamma=10))", "--norm",
                               "4", "--weights", "w.txt", *penalty)

    def test_products_with_a_penalty_stay_below_zero_widths(self):
        for seed in range(8):
            rows, _ = normals(50, 3, seed)
            labels = [1 if row[0] * row[1] > 0 else -1 for row in rows]
            for penalty in ("0.001", "0.1"):
                for norm in ("1", "1.5", "2"):
                    summary = self.converges_as_product(labels, rows, norm, penalty)
                    # A constant costs 1 per sample of the smaller class, twice.
                    self.assertLess(summary["primal"], 2 * min(labels.count(1), labels.count(-1)), (seed, penalty, norm))

    def converges_as_product(self, labels, rows, norm, penalty):
        self.write("d.csv", csv_text(labels, rows))
        summary = self.train("d.csv", "--combine", "product", "--kernel", "each(rbf(gamma=10))", "--norm", norm,
                             "--penalty", penalty)
        self.assertEqual(summary["status"], "converged")
        return summary


if __name__ == "__main__":
    unittest.main()
