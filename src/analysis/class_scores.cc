#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "analysis/require_numbers.h"
#include "data/label_key.h"
#include "kweave/error.h"
#include "kweave/scores.h"

namespace kweave {
namespace {

// Samples of one class against all others.
struct Counts {
  double both = 0, predicted = 0, true_ones = 0, all = 0;

  double Recall() const { return true_ones > 0 ? both / true_ones : 0; }
  double Precision() const { return predicted > 0 ? both / predicted : 0; }
  double F1() const { return predicted + true_ones > 0 ? 2 * both / (predicted + true_ones) : 0; }
  double Matthews() const {
    const double product = predicted * true_ones * (all - predicted) * (all - true_ones);
    return product > 0 ? (both * all - predicted * true_ones) / std::sqrt(product) : 0;
  }
};

bool Holds(const std::vector<Index>& classes, Index u) {
  return std::ranges::find(classes, u) != classes.end();
}

// The classes that values name: the largest, or all above zero.
std::vector<Index> PredictedClasses(std::span<const double> values, bool is_multilabel) {
  if (!is_multilabel) return {std::ranges::max_element(values) - values.begin()};
  std::vector<Index> classes;
  for (std::size_t u = 0; u < values.size(); ++u) {
    if (values[u] > 0) classes.push_back(static_cast<Index>(u));
  }
  return classes;
}

// Matthews' correlation of more than two classes (Gorodkin's R_K); 0 where it is undefined.
double MatthewsOfConfusion(const std::vector<std::vector<Index>>& confusion) {
  const std::size_t columns = confusion[0].size();
  std::vector<double> rows(confusion.size(), 0.0), sums(confusion.size(), 0.0);
  double right = 0, all = 0;
  for (std::size_t t = 0; t < confusion.size(); ++t) {
    for (std::size_t p = 0; p < columns; ++p) {
      const auto count = static_cast<double>(confusion[t][p]);
      rows[t] += count;
      sums[p] += count;
      all += count;
      if (t == p) right += count;
    }
  }
  double products = 0, row_squares = 0, sum_squares = 0;
  for (std::size_t u = 0; u < confusion.size(); ++u) {
    products += rows[u] * sums[u];
    row_squares += rows[u] * rows[u];
    sum_squares += sums[u] * sums[u];
  }
  const double denominator = (all * all - sum_squares) * (all * all - row_squares);
  return denominator > 0 ? (right * all - products) / std::sqrt(denominator) : 0;
}

// How many classes come before u by their values; of equal ones the first does.
std::size_t Rank(std::span<const double> values, Index u) {
  const double own = values[u];
  const auto above = std::ranges::count_if(values, [own](double value) { return value > own; });
  return static_cast<std::size_t>(above + std::count(values.begin(), values.begin() + u, own));
}

// The share of samples with a class of theirs among those with the k largest values.
double TopShare(const std::vector<std::vector<Index>>& truth, std::span<const double> decision,
                std::size_t width, std::size_t k) {
  double found = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    found += std::ranges::any_of(truth[i], [&](Index u) {
      return u < static_cast<Index>(width) && Rank(decision.subspan(i * width, width), u) < k;
    });
  }
  return found / static_cast<double>(truth.size());
}

// The one class that every sample counts for, where one is predicted: of several the one predicted, else the
// first.
std::vector<std::vector<Index>> OneClassEach(std::vector<std::vector<Index>> truth,
                                             std::span<const double> decision, std::size_t width) {
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i].size() <= 1) continue;
    const std::vector<Index> predicted = PredictedClasses(decision.subspan(i * width, width), false);
    truth[i] = Holds(truth[i], predicted[0]) ? predicted : std::vector<Index>{truth[i][0]};
  }
  return truth;
}

// Needs the labels that the model does not know as the names of further rows, and one class for each sample,
// or none.
void AddConfusion(const std::vector<std::vector<Index>>& truth, std::span<const double> decision,
                  std::size_t width, MulticlassScores& scores) {
  std::vector<std::string>& rows = scores.confusion_rows;
  const auto unlabelled = static_cast<Index>(rows.size());
  if (std::ranges::any_of(truth, [](const auto& own) { return own.empty(); })) rows.emplace_back();
  scores.confusion.assign(rows.size(), std::vector<Index>(width, 0));
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const Index predicted = PredictedClasses(decision.subspan(i * width, width), false)[0];
    ++scores.confusion[truth[i].empty() ? unlabelled : truth[i][0]][predicted];
  }
  scores.mcc = MatthewsOfConfusion(scores.confusion);
}

// Absent where a sample has no class that the model knows, or several. Probabilities of 0 count as the least
// above it, else one mistake would cost infinitely much.
std::optional<double> LogLoss(const std::vector<std::vector<Index>>& truth,
                              std::span<const double> probability, std::size_t width) {
  if (probability.empty()) return {};
  constexpr double kLeast = std::numeric_limits<double>::epsilon();  // as scikit-learn clips
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i].size() != 1 || truth[i][0] >= static_cast<Index>(width)) return {};
    sum -= std::log(std::clamp(probability[i * width + truth[i][0]], kLeast, 1 - kLeast));
  }
  return sum / static_cast<double>(truth.size());
}

// In the order of numbers, which come first, then of words.
using OrderedKey = std::tuple<bool, double, std::string>;

OrderedKey KeyOf(const std::string& label) {
  const auto number = LabelNumber(label);
  return {!number.has_value(), number.value_or(0), LabelKey(label)};
}

// The labels of one sample, without blanks around them.
std::vector<std::string> SplitLabels(std::string text, const std::string& separator) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string label) {
    label.erase(0, std::min(label.find_first_not_of(" \t"), label.size()));
    label.erase(label.find_last_not_of(" \t") + 1);
    if (!label.empty()) parts.push_back(std::move(label));
  };
  if (!separator.empty()) {
    for (std::size_t at = text.find(separator); at != text.npos; at = text.find(separator)) {
      add(text.substr(0, at));
      text.erase(0, at + separator.size());
    }
  }
  add(std::move(text));
  return parts;
}

void CheckSizes(const std::vector<std::vector<Index>>& truth, std::span<const double> decision,
                std::span<const double> probability, std::size_t width, std::size_t names) {
  if (truth.empty() || decision.size() != truth.size() * width ||
      (!probability.empty() && probability.size() != decision.size())) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} labels for {} values of {} classes", truth.size(), decision.size(), width));
  }
  RequireNumbers(decision);
  RequireNumbers(probability);
  for (const std::vector<Index>& own : truth) {
    for (const Index u : own) {
      if (u < 0 || u >= static_cast<Index>(names)) {
        throw Error(ErrorKind::kUsage, fmt::format("a sample of class {}, where {} have names", u, names));
      }
    }
  }
}

// How well class u is told from all others.
ClassScores ScoreOne(const std::string& name, const Counts& counts,
                     const std::vector<std::vector<Index>>& truth, std::span<const double> decision,
                     std::size_t u, std::size_t width) {
  std::vector<bool> is_positive;
  std::vector<double> values;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    is_positive.push_back(Holds(truth[i], static_cast<Index>(u)));
    values.push_back(decision[i * width + u]);
  }
  return {name,
          static_cast<Index>(counts.true_ones),
          counts.Precision(),
          counts.Recall(),
          counts.F1(),
          counts.Matthews(),
          ScoreClassification(is_positive, values).average_precision};
}

// Over the classes that occur. Labels that the model does not know are never predicted: they add 0.
void AddMeans(MulticlassScores& scores) {
  double recall = 0, f1 = 0, mcc = 0, average_precision = 0, known = 0;
  for (const ClassScores& one : scores.classes) {
    if (one.samples == 0) continue;
    ++known;
    recall += one.recall;
    f1 += one.f1;
    mcc += one.mcc;
    average_precision += one.average_precision.value_or(0);
  }
  scores.classes_occurring = static_cast<Index>(known);
  for (std::size_t t = scores.classes.size(); t < scores.confusion.size(); ++t) {
    scores.classes_occurring +=
        std::ranges::any_of(scores.confusion[t], [](Index count) { return count > 0; });
  }
  if (known > 0) scores.average_precision = average_precision / known;
  const auto all = static_cast<double>(std::max<Index>(scores.classes_occurring, 1));
  if (!scores.hamming_loss) scores.balanced_accuracy = recall / all;
  scores.f1 = f1 / all;
  scores.mean_mcc = mcc / all;
}

}  // namespace

std::vector<std::vector<Index>> TrueClasses(const Labels& labels, const std::vector<std::string>& classes,
                                            std::vector<std::string>* unknown_labels) {
  std::map<OrderedKey, Index> number_of;
  for (std::size_t u = 0; u < classes.size(); ++u) number_of.emplace(KeyOf(classes[u]), u);
  std::map<OrderedKey, std::string> unknown_by_key;
  for (const std::string& text : labels.text) {
    for (const std::string& label : SplitLabels(text, labels.separator)) {
      if (!number_of.contains(KeyOf(label))) unknown_by_key.emplace(KeyOf(label), label);
    }
  }
  std::vector<std::string> unknown;
  for (const auto& [key, label] : unknown_by_key) {
    number_of.emplace(key, classes.size() + unknown.size());
    unknown.push_back(label);
  }
  std::vector<std::vector<Index>> truth(labels.text.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (const std::string& label : SplitLabels(labels.text[i], labels.separator)) {
      truth[i].push_back(number_of.at(KeyOf(label)));
    }
  }
  if (unknown_labels != nullptr) *unknown_labels = std::move(unknown);
  return truth;
}

MulticlassScores ScoreClasses(const std::vector<std::vector<Index>>& truth, std::span<const double> decision,
                              const std::vector<std::string>& classes, bool is_multilabel,
                              const std::vector<std::string>& unknown_labels,
                              std::span<const double> probability) {
  const std::size_t width = classes.size();
  CheckSizes(truth, decision, probability, width, width + unknown_labels.size());
  const std::vector<std::vector<Index>> counted =
      is_multilabel ? truth : OneClassEach(truth, decision, width);
  std::vector<Counts> counts(width);
  MulticlassScores scores;
  double wrong_bits = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::vector<Index> predicted = PredictedClasses(decision.subspan(i * width, width), is_multilabel);
    bool is_right = true;
    for (std::size_t u = 0; u < width; ++u) {
      const bool is_true = Holds(counted[i], static_cast<Index>(u));
      const bool is_predicted = Holds(predicted, static_cast<Index>(u));
      counts[u].both += is_true && is_predicted;
      counts[u].predicted += is_predicted;
      counts[u].true_ones += is_true;
      wrong_bits += is_true != is_predicted;
      is_right = is_right && is_true == is_predicted;
    }
    scores.accuracy += is_right;
  }
  const auto samples = static_cast<double>(truth.size());
  scores.accuracy /= samples;
  for (std::size_t u = 0; u < width; ++u) {
    counts[u].all = samples;
    scores.classes.push_back(ScoreOne(classes[u], counts[u], truth, decision, u, width));
  }
  if (is_multilabel) {
    scores.hamming_loss = wrong_bits / (samples * static_cast<double>(width));
  } else {
    scores.confusion_rows = classes;
    scores.confusion_rows.insert(scores.confusion_rows.end(), unknown_labels.begin(), unknown_labels.end());
    AddConfusion(counted, decision, width, scores);
    for (const std::size_t k : {2, 3, 5}) {
      if (k < width) scores.top.emplace_back(k, TopShare(truth, decision, width, k));
    }
    scores.log_loss = LogLoss(truth, probability, width);
  }
  AddMeans(scores);
  return scores;
}

}  // namespace kweave
