// Times (in CPU seconds) the inner solvers on one Gaussian kernel, one thread, to compare them with each
// other and with LIBSVM's svm-train on the same problem.
//
//   smo_bench [--samples 10000] [--features 60] [-C 10] [--gamma 0.01] [--tolerance 0.001] [--cache-mb 2000]
//             [--batch 32] [--no-shrinking] [--solver smo, block or auto] [--seed 1] [--write FILE | --read
//             FILE]
//
// --write stores the made problem as LIBSVM text, for: svm-train -s 0 -t 2 -c C -g GAMMA -e TOLERANCE -m 2000
// FILE
// --read takes such a file instead of a made problem.
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "compute/cpu/family_loops.h"
#include "qp/solve.h"

namespace kweave {
namespace {

/// One thread works here, and a busy machine must not show in the figures.
double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Problem {
  Index size = 0;
  Index features = 0;
  std::vector<float> x;  // size x features
  std::vector<double> y;
};

/// exp(-gamma ||x - z||^2) - 1: the constant does not matter to the solver.
class GaussianRows : public RowSource<float> {
 public:
  GaussianRows(const Problem& problem, double gamma) : problem_(problem), gamma_(static_cast<float>(gamma)) {
    for (Index i = 0; i < problem.size; ++i) {
      const float* x = problem.x.data() + i * problem.features;
      norms_.push_back(cblas_sdot(static_cast<int>(problem.features), x, 1, x, 1));
    }
  }
  Index size() const override { return problem_.size; }
  void Diagonal(std::span<double> out) override { std::fill(out.begin(), out.end(), 0.0); }
  void Rows(std::span<const Index> rows, float* out, Index stride) override {
    const double start = CpuSeconds();
    ++calls;
    const Index d = problem_.features;
    batch_.resize(rows.size() * static_cast<std::size_t>(d));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::copy_n(problem_.x.data() + rows[r] * d, d, batch_.data() + static_cast<Index>(r) * d);
    }
    squared_.resize(rows.size() * static_cast<std::size_t>(stride));
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(rows.size()),
                static_cast<int>(problem_.size), static_cast<int>(d), -2, batch_.data(), static_cast<int>(d),
                problem_.x.data(), static_cast<int>(d), 0, squared_.data(), static_cast<int>(stride));
    const float weight = 1;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      float* squared = squared_.data() + static_cast<Index>(r) * stride;
      float* row = out + static_cast<Index>(r) * stride;
      const float norm = norms_[static_cast<std::size_t>(rows[r])];
      for (Index j = 0; j < size(); ++j) {
        squared[j] = std::max(squared[j] + norm + norms_[static_cast<std::size_t>(j)], 0.0f);
      }
      std::fill_n(row, size(), 0.0f);
      AddExponentials<float>(squared, size(), {&gamma_, 1}, {&weight, 1}, row);
    }
    seconds += CpuSeconds() - start;
  }
  void Multiply(std::span<const double> beta, std::span<double> out) override {
    std::fill(out.begin(), out.end(), 0.0);
    std::vector<float> row(static_cast<std::size_t>(problem_.size));
    for (Index i = 0; i < problem_.size; ++i) {
      if (beta[static_cast<std::size_t>(i)] == 0) continue;
      Rows(std::span(&i, 1), row.data(), problem_.size);
      for (std::size_t j = 0; j < row.size(); ++j) out[j] += beta[static_cast<std::size_t>(i)] * row[j];
    }
  }
  double seconds = 0;
  long calls = 0;

 private:
  const Problem& problem_;
  float gamma_;
  std::vector<float> norms_;
  std::vector<float> batch_, squared_;
};

/// Two classes of several overlapping clouds each.
Problem MakeProblem(Index size, Index features, std::uint64_t seed) {
  Random random(seed);
  auto normal = [&] {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += random.Uniform();
    return sum;
  };
  constexpr Index kClouds = 8;
  std::vector<double> centres(static_cast<std::size_t>(kClouds * features));
  for (double& value : centres) value = 0.7 * normal();
  Problem problem{size, features, {}, {}};
  for (Index i = 0; i < size; ++i) {
    const Index cloud = random.Below(kClouds);
    const bool is_flipped = random.Uniform() < 0.03;
    problem.y.push_back((cloud % 2 == 0) != is_flipped ? 1 : -1);
    for (Index k = 0; k < features; ++k) {
      problem.x.push_back(
          static_cast<float>(centres[static_cast<std::size_t>(cloud * features + k)] + normal()));
    }
  }
  return problem;
}

void Write(const Problem& problem, const std::string& path) {
  std::ofstream file(path);
  for (Index i = 0; i < problem.size; ++i) {
    file << (problem.y[static_cast<std::size_t>(i)] > 0 ? "+1" : "-1");
    for (Index k = 0; k < problem.features; ++k) {
      file << fmt::format(" {}:{}", k + 1, problem.x[static_cast<std::size_t>(i * problem.features + k)]);
    }
    file << '\n';
  }
}

Problem Read(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::pair<Index, float>>> rows;
  Problem problem;
  std::string line;
  double first_label = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    double label;
    words >> label;
    if (rows.empty()) first_label = label;
    problem.y.push_back(label == first_label ? 1 : -1);
    rows.emplace_back();
    Index column;
    char colon;
    float value;
    while (words >> column >> colon >> value) {
      rows.back().push_back({column - 1, value});
      problem.features = std::max(problem.features, column);
    }
  }
  problem.size = static_cast<Index>(rows.size());
  problem.x.assign(static_cast<std::size_t>(problem.size * problem.features), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& [column, value] : rows[i]) {
      problem.x[i * static_cast<std::size_t>(problem.features) + static_cast<std::size_t>(column)] = value;
    }
  }
  return problem;
}

int Main(int argc, char** argv) {
  std::map<std::string, std::string> flags = {
      {"--samples", "10000"}, {"--features", "60"},     {"-C", "10"},       {"--gamma", "0.01"},
      {"--cache-mb", "2000"}, {"--batch", "32"},        {"--seed", "1"},    {"--write", ""},
      {"--read", ""},         {"--tolerance", "0.001"}, {"--solver", "smo"}};
  SolverOptions options;
  for (int a = 1; a < argc; ++a) {
    if (std::strcmp(argv[a], "--no-shrinking") == 0) {
      options.use_shrinking = false;
    } else if (flags.count(argv[a]) != 0 && a + 1 < argc) {
      flags[argv[a]] = argv[a + 1];
      ++a;
    } else {
      fmt::print(stderr, "smo_bench: unknown flag {}\n", argv[a]);
      return 2;
    }
  }
  auto number = [&](const char* flag) { return std::stod(flags[flag]); };
  const Problem problem = flags["--read"].empty() ? MakeProblem(static_cast<Index>(number("--samples")),
                                                                static_cast<Index>(number("--features")),
                                                                static_cast<std::uint64_t>(number("--seed")))
                                                  : Read(flags["--read"]);
  if (!flags["--write"].empty()) Write(problem, flags["--write"]);
  openblas_set_num_threads(1);

  const double c = number("-C");
  std::vector<double> linear, lower, upper;
  for (const double y : problem.y) {
    linear.push_back(-y);
    lower.push_back(y > 0 ? 0 : -c);
    upper.push_back(y > 0 ? c : 0);
  }
  options.tolerance = number("--tolerance");
  options.cache_bytes = static_cast<std::size_t>(number("--cache-mb") * 1e6);
  options.rows_per_batch = static_cast<Index>(number("--batch"));
  SolverState state{std::vector<double>(problem.y.size(), 0.0), {}, false};
  GaussianRows rows(problem, number("--gamma"));
  const double start = CpuSeconds();
  const SolverResult result = SolveDual<float>(FindChoice<SolverKind>(flags["--solver"])->choice,
                                               {linear, lower, upper}, rows, state, options);
  const double seconds = CpuSeconds() - start;
  Index support = 0;
  for (const double beta : state.beta) support += beta != 0;
  fmt::print("{} samples, {} features: {:.3f} s, of it {:.3f} s for {} rows in {} calls\n", problem.size,
             problem.features, seconds, rows.seconds, result.rows_computed, rows.calls);
  fmt::print("outcome {}, {} steps, {:.2f} us a step beside the rows, {} support vectors, objective {:.8g}\n",
             static_cast<int>(result.outcome), result.steps,
             1e6 * (seconds - rows.seconds) / static_cast<double>(std::max<std::int64_t>(result.steps, 1)),
             support, result.objective);
  return result.outcome == SolverOutcome::kConverged ? 0 : 1;
}

}  // namespace
}  // namespace kweave

int main(int argc, char** argv) { return kweave::Main(argc, argv); }
