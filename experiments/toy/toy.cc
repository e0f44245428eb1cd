// The toy problems of the lp-norm papers, trained in one process: thousands of machines that take
// milliseconds each.
//
//     toy_experiment SAMPLES NORMS COSTS FIRST STEP REPETITIONS
//     toy_experiment bounds < PARTS
//
// For every scenario (how many of 50 features carry information) and every repetition FIRST, FIRST + STEP,
// ... below REPETITIONS: draws SAMPLES training samples and 10,000 samples each for validation and test,
// trains one linear kernel per feature with every norm of NORMS (such as 1,4,block:inf) and every C of COSTS,
// and writes a line per norm for the C that is best on all of the validation samples and for the one that is
// best on the first 1,000. run.py beside this file knows the columns. Alignments of the kernels come as lines
// of their own. The second form reads lines of the word global or local and the norms of parts, and writes
// the factor of that bound for block norms from 1 on.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kweave/bounds.h"
#include "kweave/kernels.h"
#include "kweave/train.h"

namespace {

constexpr int kFeatures = 50;
constexpr int kInformative[] = {1, 4, 9, 18, 28, 50};
constexpr double kDistance = 1.75;  // of each class from the middle
constexpr int kLarge = 10000, kSmall = 1000;
// With a small C all losses stay near 1 and the objective near C n, whatever the weights: only a smaller gap
// tells.
constexpr double kGap = 1e-3, kGapPerC = 0.01;
// Block norms above 2 bound each part on its own, so that the same C fits the samples much closer.
constexpr double kCostAboveTwo = 0.01;
constexpr long kMostMoves = 60;  // with an infinite block norm, whose last digits come slowly

struct Samples {
  std::vector<double> x;  // row after row
  std::vector<double> y;
};

struct LinearFunction {
  std::vector<double> w;
  double b = 0;
};

// One choice of C.
struct Choice {
  double error = 1;  // on validation samples
  double C = 0;
  LinearFunction function;
  std::vector<double> theta;
  std::vector<double> parts;  // ||w_m||
};

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

double Number(const std::string& text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  return std::stod(text);
}

// Balanced, at opposite means along the informative features.
Samples Draw(int count, int informative, std::mt19937_64& random) {
  std::normal_distribution<double> noise;
  const double shift = kDistance / std::sqrt(informative);
  Samples samples;
  for (int i = 0; i < count; ++i) {
    const double sign = i % 2 == 0 ? 1 : -1;
    samples.y.push_back(sign);
    for (int j = 0; j < kFeatures; ++j) {
      samples.x.push_back(noise(random) + (j < informative ? sign * shift : 0));
    }
  }
  return samples;
}

kweave::Dataset MakeDataset(const Samples& samples) {
  kweave::Dataset data;
  data.size = static_cast<kweave::Index>(samples.y.size());
  data.views = {{"data", kweave::MakeDense(samples.x, data.size, kFeatures), {}}};
  for (const double y : samples.y) data.labels.text.push_back(y > 0 ? "1" : "-1");
  data.labels.number = samples.y;
  return data;
}

// f at the origin and at the unit vectors tells all.
LinearFunction FunctionOf(const kweave::Model& model, const kweave::Context& context) {
  Samples points;
  points.x.assign((kFeatures + 1) * kFeatures, 0.0);
  points.y.assign(kFeatures + 1, 1.0);
  for (int j = 0; j < kFeatures; ++j) points.x[(j + 1) * kFeatures + j] = 1;
  const std::vector<double> values = model.Predict(MakeDataset(points), context).decision;
  const double sign = model.classes()[1] == "1" ? 1 : -1;
  LinearFunction function;
  function.b = sign * values[0];
  for (int j = 0; j < kFeatures; ++j) function.w.push_back(sign * (values[j + 1] - values[0]));
  return function;
}

// The share of wrong answers among the first `count`.
double Error(const LinearFunction& function, const Samples& samples, int count) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    double f = function.b;
    for (int j = 0; j < kFeatures; ++j) f += function.w[j] * samples.x[i * kFeatures + j];
    wrong += !(f * samples.y[i] > 0);
  }
  return static_cast<double>(wrong) / count;
}

// || v / ||v|| - truth / ||truth|| ||, where the truth is the same for all informative features.
double ModelError(const std::vector<double>& v, int informative) {
  double norm = 0, sum = 0;
  for (const double value : v) norm += value * value;
  if (norm == 0) return 1;
  for (int j = 0; j < kFeatures; ++j) {
    const double difference = v[j] / std::sqrt(norm) - (j < informative ? 1 / std::sqrt(informative) : 0);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

kweave::TrainOptions MakeOptions(const std::string& norm) {
  kweave::TrainOptions options;
  options.kernels = {"each(linear)"};
  const bool is_block = norm.starts_with("block:");
  (is_block ? options.block_norm : options.norm) = Number(is_block ? norm.substr(6) : norm);
  if (std::isinf(options.block_norm)) options.max_iterations = kMostMoves;
  return options;
}

void PrintChoice(const Choice& choice, const Samples& test, int tested, int informative) {
  std::cout << ',' << choice.C << ',' << Error(choice.function, test, tested) << ','
            << ModelError(choice.theta, informative) << ',' << ModelError(choice.function.w, informative);
}

void RunNorm(const std::string& norm, const std::vector<double>& costs, int informative, int repetition,
             const kweave::Dataset& training, const Samples& validation, const Samples& test,
             const kweave::Context& context) {
  kweave::TrainOptions options = MakeOptions(norm);
  Choice large, small;
  double largest_gap = 0;
  for (const double cost : costs) {
    const double C = options.block_norm > 2 ? kCostAboveTwo * cost : cost;
    options.C = C;
    options.gap = std::min(kGap, kGapPerC * C);
    const kweave::Model model = kweave::Train(training, options, context);
    const kweave::Summary& summary = model.summary();
    largest_gap = std::max(largest_gap, summary.relative_gap);
    Choice choice{1, C, FunctionOf(model, context), {}, {}};
    for (const kweave::KernelReport& kernel : summary.kernels) {
      choice.theta.push_back(kernel.weight);
      choice.parts.push_back(kernel.weight * std::sqrt(std::max(kernel.quadratic, 0.0)));
    }
    choice.error = Error(choice.function, validation, kSmall);
    if (choice.error < small.error) small = choice;
    choice.error = Error(choice.function, validation, kLarge);
    if (choice.error < large.error) large = choice;
  }
  std::cout << "run," << informative << ',' << repetition << ',' << norm;
  PrintChoice(large, test, kLarge, informative);
  PrintChoice(small, test, kSmall, informative);
  std::cout << ',' << largest_gap;
  for (const double part : small.parts) std::cout << ',' << part;
  std::cout << '\n';
}

// Mean alignments between informative kernels, between those and noise, within noise, and with the labels.
void PrintAlignments(const kweave::Dataset& data, int informative, int repetition,
                     const kweave::Context& context) {
  const kweave::KernelAnalysis analysis = kweave::AnalyzeKernels(data, MakeOptions("2"), context);
  double sums[5] = {}, counts[5] = {};
  const auto note = [&](int kind, double value) {
    sums[kind] += value;
    counts[kind] += 1;
  };
  for (int a = 0; a < kFeatures; ++a) {
    for (int b = 0; b < a; ++b) {
      const int kind = (a >= informative) + (b >= informative);
      note(kind, analysis.centered_alignment[a * kFeatures + b]);
    }
    note(a < informative ? 3 : 4, analysis.kernels[a].centered_label_alignment.value());
  }
  std::cout << "alignment," << informative << ',' << repetition;
  for (int kind = 0; kind < 5; ++kind) {
    std::cout << ',';
    if (counts[kind] > 0) std::cout << sums[kind] / counts[kind];
  }
  std::cout << '\n';
}

void Run(int samples, const std::vector<std::string>& norms, const std::vector<double>& costs, int first,
         int step, int repetitions) {
  kweave::Context context;
  context.threads = 1;
  for (int repetition = first; repetition < repetitions; repetition += step) {
    for (const int informative : kInformative) {
      std::seed_seq seed{samples, informative, repetition};
      std::mt19937_64 random(seed);
      const kweave::Dataset training = MakeDataset(Draw(samples, informative, random));
      const Samples validation = Draw(kLarge, informative, random), test = Draw(kLarge, informative, random);
      PrintAlignments(training, informative, repetition, context);
      for (const std::string& norm : norms) {
        RunNorm(norm, costs, informative, repetition, training, validation, test, context);
      }
      std::cout << std::flush;
    }
  }
}

void PrintBounds() {
  constexpr double kDecay = 2;
  for (std::string line; std::getline(std::cin, line);) {
    std::stringstream words(line);
    std::string kind;
    words >> kind;
    std::vector<double> parts;
    for (double part = 0; words >> part;) parts.push_back(part);
    const bool is_local = kind == "local";
    const int last = is_local ? 200 : 400;
    for (int percent = 100; percent <= last; ++percent) {
      const double P = percent / 100.0;
      std::cout << (percent == 100 ? "" : ",")
                << (is_local ? kweave::LocalBoundFactor(parts, P, kDecay)
                             : kweave::GlobalBoundFactor(parts, P));
    }
    std::cout << '\n';
  }
}

}  // namespace

int main(int count, char** words) {
  const bool only_bounds = count == 2 && std::string(words[1]) == "bounds";
  if (count != 7 && !only_bounds) {
    std::cerr
        << "usage: toy_experiment SAMPLES NORMS COSTS FIRST STEP REPETITIONS, or toy_experiment bounds\n";
    return 2;
  }
  try {
    if (only_bounds) {
      PrintBounds();
      return 0;
    }
    std::vector<double> costs;
    for (const std::string& cost : Split(words[3])) costs.push_back(Number(cost));
    Run(std::stoi(words[1]), Split(words[2]), costs, std::stoi(words[4]), std::stoi(words[5]),
        std::stoi(words[6]));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
