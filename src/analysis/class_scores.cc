#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "data/number.h"
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

// The share of samples whose class is among those with the k largest values; ties count against it.
double TopShare(const std::vector<std::vector<Index>>& truth, std::span<const double> decision,
                std::size_t width, std::size_t k) {
  double found = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i].empty()) continue;
    const auto values = decision.subspan(i * width, width);
    const double own = values[truth[i][0]];
    const auto above = std::ranges::count_if(values, [own](double value) { return value > own; });
    const auto equal_before = std::count(values.begin(), values.begin() + truth[i][0], own);
    found += static_cast<std::size_t>(above + equal_before) < k;
  }
  return found / static_cast<double>(truth.size());
}

void AddConfusion(const std::vector<std::vector<Index>>& truth, std::span<const double> decision,
                  std::size_t width, MulticlassScores& scores) {
  const bool has_strangers = std::ranges::any_of(truth, [](const auto& classes) { return classes.empty(); });
  scores.confusion.assign(width + (has_strangers ? 1 : 0), std::vector<Index>(width, 0));
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const Index predicted = PredictedClasses(decision.subspan(i * width, width), false)[0];
    ++scores.confusion[truth[i].empty() ? width : truth[i][0]][predicted];
  }
  scores.mcc = MatthewsOfConfusion(scores.confusion);
  double recall = 0, occurring = 0;
  for (std::size_t t = 0; t < scores.confusion.size(); ++t) {
    const Index samples = std::accumulate(scores.confusion[t].begin(), scores.confusion[t].end(), Index{0});
    if (samples == 0) continue;
    ++occurring;
    if (t < width) recall += static_cast<double>(scores.confusion[t][t]) / static_cast<double>(samples);
  }
  scores.balanced_accuracy = recall / occurring;
  for (const std::size_t k : {2, 3, 5}) {
    if (k < width) scores.top.emplace_back(k, TopShare(truth, decision, width, k));
  }
}

}  // namespace

std::vector<std::vector<Index>> TrueClasses(const Labels& labels, const std::vector<std::string>& classes,
                                            std::vector<std::string>* strangers) {
  std::vector<std::vector<Index>> truth(labels.text.size());
  std::set<std::string> unknown;
  const auto is_same = [](const std::string& a, const std::string& b) {
    const auto x = ToNumber(a), y = ToNumber(b);
    return a == b || (x && y && *x == *y);
  };
  const auto add = [&](std::size_t i, std::string label) {
    label.erase(0, std::min(label.find_first_not_of(" \t"), label.size()));
    label.erase(label.find_last_not_of(" \t") + 1);
    if (label.empty()) return;
    const auto found =
        std::ranges::find_if(classes, [&](const std::string& known) { return is_same(label, known); });
    if (found == classes.end()) {
      unknown.insert(label);
    } else {
      truth[i].push_back(found - classes.begin());
    }
  };
  for (std::size_t i = 0; i < labels.text.size(); ++i) {
    std::string text = labels.text[i];
    if (!labels.separator.empty()) {
      for (std::size_t at = text.find(labels.separator); at != text.npos; at = text.find(labels.separator)) {
        add(i, text.substr(0, at));
        text.erase(0, at + labels.separator.size());
      }
    }
    add(i, text);
  }
  if (strangers != nullptr) strangers->assign(unknown.begin(), unknown.end());
  return truth;
}

MulticlassScores ScoreClasses(const std::vector<std::vector<Index>>& truth, std::span<const double> decision,
                              const std::vector<std::string>& classes, bool is_multilabel) {
  const std::size_t width = classes.size();
  if (truth.empty() || decision.size() != truth.size() * width) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} labels for {} values of {} classes", truth.size(), decision.size(), width));
  }
  std::vector<Counts> counts(width);
  MulticlassScores scores;
  double wrong_bits = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::vector<Index> predicted = PredictedClasses(decision.subspan(i * width, width), is_multilabel);
    bool is_right = !truth[i].empty() || is_multilabel;
    for (std::size_t u = 0; u < width; ++u) {
      const bool is_true = Holds(truth[i], static_cast<Index>(u));
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
  double precision_sum = 0, precisions = 0, used = 0, f1_sum = 0, mcc_sum = 0;
  for (std::size_t u = 0; u < width; ++u) {
    counts[u].all = samples;
    ClassScores one{classes[u],
                    static_cast<Index>(counts[u].true_ones),
                    counts[u].Precision(),
                    counts[u].Recall(),
                    counts[u].F1(),
                    counts[u].Matthews(),
                    {}};
    std::vector<bool> is_positive;
    std::vector<double> values;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      is_positive.push_back(Holds(truth[i], static_cast<Index>(u)));
      values.push_back(decision[i * width + u]);
    }
    one.average_precision = ScoreClassification(is_positive, values).average_precision;
    if (one.average_precision) {
      precision_sum += *one.average_precision;
      ++precisions;
    }
    if (counts[u].true_ones + counts[u].predicted > 0) {
      f1_sum += one.f1;
      mcc_sum += one.mcc;
      ++used;
    }
    scores.classes.push_back(std::move(one));
  }
  scores.f1 = used > 0 ? f1_sum / used : 0;
  scores.mean_mcc = used > 0 ? mcc_sum / used : 0;
  if (precisions > 0) scores.average_precision = precision_sum / precisions;
  if (is_multilabel) {
    scores.hamming_loss = wrong_bits / (samples * static_cast<double>(width));
  } else {
    AddConfusion(truth, decision, width, scores);
  }
  return scores;
}

}  // namespace kweave
