#include "verify/plain_sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kweave/error.h"

namespace kweave::verify {
namespace {

// Letters [begin, end) of a sequence, and the last ones that words may have.
struct Part {
  Index begin = 0, end = 0, limit = 0;
};

// Numbers from 1, negative ones from the end; a third entry of 1: words begin there, and may end anywhere.
Part PartOf(const FeatureSubset& region, Index length) {
  if (region.empty()) return {0, length, length};
  const auto from_start = [&](Index number) { return number > 0 ? number - 1 : length + number; };
  const Index begin = std::clamp<Index>(from_start(region[0]), 0, length);
  const Index end = std::clamp<Index>(from_start(region[1]) + 1, begin, length);
  return {begin, end, region[2] == 1 ? length : end};
}

// What a formula is asked for.
struct Pair {
  const KernelParameters& parameters;
  const FeatureSubset& region;
  Letters x, z;
  int alphabet;  // letters there are

  Part of_x() const { return PartOf(region, static_cast<Index>(x.size())); }
  Part of_z() const { return PartOf(region, static_cast<Index>(z.size())); }
};

bool AreEqual(int a, int b) { return a >= 0 && a == b; }

// How many letters from i on are equal, of at most `most`.
Index EqualLetters(Letters x, Letters z, Index i, Index most) {
  Index count = 0;
  while (count < most && AreEqual(x[i + count], z[i + count])) ++count;
  return count;
}

// parameters: degree, order (one of them is 0).
double WeightedDegree(const Pair& at) {
  const double degree = at.parameters[0], order = at.parameters[1];
  const Part part = at.of_x();
  double sum = 0;
  for (Index i = part.begin; i < part.end; ++i) {
    const Index most = std::min(static_cast<Index>(std::max(degree, order)), part.limit - i);
    const auto equal = static_cast<double>(EqualLetters(at.x, at.z, i, most));
    if (order > 0) sum += equal == order ? 1 : 0;
    for (double k = 1; order == 0 && k <= equal; ++k) sum += 2 * (degree - k + 1) / (degree * (degree + 1));
  }
  return sum;
}

// The letters of a word; none of them is unknown.
using Word = std::vector<int>;

// Words at the given places behind each position of a part. With `adds_reverse` those of the reverse
// complement, too, of nucleotides A, C, G, T.
std::vector<Word> WordsOf(Letters x, const Part& part, const std::vector<Index>& places, bool adds_reverse) {
  constexpr int kComplements = 3;  // 0 and 3, 1 and 2
  std::vector<Word> words;
  const Index width = places.back() + 1;
  for (Index i = part.begin; i < part.end && i + width <= part.limit; ++i) {
    Word forward, reverse;
    for (const Index place : places) {
      forward.push_back(x[i + place]);
      const int letter = x[i + width - 1 - place];
      reverse.push_back(letter < 0 ? -1 : kComplements - letter);
    }
    if (std::ranges::find(forward, -1) == forward.end()) words.push_back(forward);
    if (adds_reverse && std::ranges::find(reverse, -1) == reverse.end()) words.push_back(reverse);
  }
  return words;
}

std::vector<Index> FirstPlaces(double letters) {
  std::vector<Index> places(static_cast<std::size_t>(letters));
  std::iota(places.begin(), places.end(), Index{0});
  return places;
}

// The sum over all pairs of words of what they add.
template <class Worth>
double SumOverPairs(const std::vector<Word>& of_x, const std::vector<Word>& of_z, const Worth& worth) {
  double sum = 0;
  for (const Word& u : of_x) {
    for (const Word& v : of_z) {
      std::size_t equal = 0;
      for (std::size_t t = 0; t < u.size(); ++t) equal += u[t] == v[t] ? 1 : 0;
      sum += worth(equal);
    }
  }
  return sum;
}

double CommonWords(const std::vector<Word>& of_x, const std::vector<Word>& of_z) {
  std::map<Word, double> counts;
  for (const Word& word : of_x) counts[word] += 1;
  double sum = 0;
  for (const Word& word : of_z) {
    if (const auto found = counts.find(word); found != counts.end()) sum += found->second;
  }
  return sum;
}

// parameters: k, rc.
double Spectrum(const Pair& at) {
  const std::vector<Index> places = FirstPlaces(at.parameters[0]);
  const bool adds_reverse = at.parameters[1] == 1;
  return CommonWords(WordsOf(at.x, at.of_x(), places, adds_reverse),
                     WordsOf(at.z, at.of_z(), places, adds_reverse));
}

// parameters: pattern, whose digits 1 are letters.
double Motif(const Pair& at) {
  std::vector<Index> places;
  const std::string pattern = std::to_string(static_cast<int>(at.parameters[0]));
  for (std::size_t place = 0; place < pattern.size(); ++place) {
    if (pattern[place] == '1') places.push_back(static_cast<Index>(place));
  }
  const std::vector<Word> of_x = WordsOf(at.x, at.of_x(), places, false);
  const std::vector<Word> of_z = WordsOf(at.z, at.of_z(), places, false);
  if (of_x.empty() || of_z.empty()) return 0;
  return CommonWords(of_x, of_z) / static_cast<double>(of_x.size()) / static_cast<double>(of_z.size());
}

// How many words are within m mismatches of two words of k letters, of which some are equal, by letter after
// letter: ways[a][b] of those so far that differ from the first word in a places and from the second in b.
double CommonNeighbours(std::size_t k, std::size_t equal, std::size_t m, int alphabet) {
  std::vector<std::vector<double>> ways(k + 2, std::vector<double>(k + 2, 0.0));
  ways[0][0] = 1;
  for (std::size_t t = 0; t < k; ++t) {
    std::vector<std::vector<double>> next(k + 2, std::vector<double>(k + 2, 0.0));
    for (std::size_t a = 0; a <= t; ++a) {
      for (std::size_t b = 0; b <= t; ++b) {
        const double now = ways[a][b];
        if (t < equal) {
          next[a][b] += now;
          next[a + 1][b + 1] += now * (alphabet - 1);
        } else {
          next[a][b + 1] += now;
          next[a + 1][b] += now;
          next[a + 1][b + 1] += now * (alphabet - 2);
        }
      }
    }
    ways = std::move(next);
  }
  double sum = 0;
  for (std::size_t a = 0; a <= m; ++a) {
    for (std::size_t b = 0; b <= m; ++b) sum += ways[a][b];
  }
  return sum;
}

// parameters: k, m, rc.
double Mismatch(const Pair& at) {
  const std::vector<Index> places = FirstPlaces(at.parameters[0]);
  const bool adds_reverse = at.parameters[2] == 1;
  std::vector<double> worth;
  for (std::size_t equal = 0; equal <= places.size(); ++equal) {
    worth.push_back(
        CommonNeighbours(places.size(), equal, static_cast<std::size_t>(at.parameters[1]), at.alphabet));
  }
  return SumOverPairs(WordsOf(at.x, at.of_x(), places, adds_reverse),
                      WordsOf(at.z, at.of_z(), places, adds_reverse),
                      [&](std::size_t equal) { return worth[equal]; });
}

// parameters: l, k, rc. In how many sets of k places two words are equal, by Pascal's triangle.
double Gapped(const Pair& at) {
  const std::vector<Index> places = FirstPlaces(at.parameters[0]);
  const bool adds_reverse = at.parameters[2] == 1;
  const auto k = static_cast<std::size_t>(at.parameters[1]);
  std::vector<std::vector<double>> choose(places.size() + 1, std::vector<double>(k + 1, 0.0));
  for (std::size_t n = 0; n <= places.size(); ++n) {
    choose[n][0] = 1;
    for (std::size_t r = 1; r <= k && n > 0; ++r) choose[n][r] = choose[n - 1][r - 1] + choose[n - 1][r];
  }
  return SumOverPairs(WordsOf(at.x, at.of_x(), places, adds_reverse),
                      WordsOf(at.z, at.of_z(), places, adds_reverse),
                      [&](std::size_t equal) { return choose[equal][k]; });
}

// parameters: degree, shift.
double ShiftedDegree(const Pair& at) {
  const double degree = at.parameters[0];
  const Part part = at.of_x();
  double sum = 0;
  for (Index i = part.begin; i < part.end; ++i) {
    for (Index j = part.begin; j < part.end; ++j) {
      const auto distance = static_cast<double>(std::abs(i - j));
      if (distance > at.parameters[1]) continue;
      const double share = distance == 0 ? 1 : 1 / (2 * (distance + 1));
      for (Index k = 0; static_cast<double>(k) < degree && std::max(i, j) + k < part.limit; ++k) {
        if (!AreEqual(at.x[i + k], at.z[j + k])) break;
        sum += share * 2 * (degree - static_cast<double>(k)) / (degree * (degree + 1));
      }
    }
  }
  return sum;
}

// The logarithm of the sum over local alignments: from[i][j] of those that begin with letters i and j, each
// pair of letters with all that may follow, gaps extended letter by letter. Rows are scaled by their largest
// sum.
double LogAlignments(Letters x, Letters z, const KernelParameters& parameters) {
  const auto [beta, open, extend] = parameters;
  using Row = std::vector<long double>;
  const std::size_t width = z.size();
  Row pair(width + 1, 0), skip_x(width + 1, 0), skip_z(width + 1, 0);  // of the row below
  long double one = 1, sum = 1, log_scale = 0;
  for (std::size_t i = x.size(); i-- > 0;) {
    Row pair_now(width + 1, 0), skip_x_now(width + 1, 0), skip_z_now(width + 1, 0);
    for (std::size_t j = width; j-- > 0;) {
      const bool is_known = x[i] >= 0 && z[j] >= 0;
      const long double score =
          is_known ? std::exp(static_cast<long double>(x[i] == z[j] ? beta : -beta)) : 0;
      const long double first = std::exp(static_cast<long double>(-beta * open));
      const long double further = std::exp(static_cast<long double>(-beta * extend));
      // What follows when z[j] is left out, or x[i] and perhaps letters of z behind it.
      skip_z_now[j] = first * pair_now[j + 1] + further * skip_z_now[j + 1];
      skip_x_now[j] = first * (pair[j] + skip_z[j]) + further * skip_x[j];
      pair_now[j] = score * (one + pair[j + 1] + skip_z[j + 1] + skip_x[j + 1]);
      sum += pair_now[j];
    }
    pair = std::move(pair_now);
    skip_x = std::move(skip_x_now);
    skip_z = std::move(skip_z_now);
    const long double scale = 1 / sum;
    for (Row* row : {&pair, &skip_x, &skip_z}) {
      for (long double& value : *row) value *= scale;
    }
    one *= scale;
    log_scale += std::log(sum);
    sum = 1;
  }
  return static_cast<double>(log_scale + std::log(sum));
}

// parameters: beta, open, extend.
double LocalAlignment(const Pair& at) {
  const auto letters = [](Letters of, const Part& part) {
    return of.subspan(static_cast<std::size_t>(part.begin), static_cast<std::size_t>(part.end - part.begin));
  };
  const Letters x = letters(at.x, at.of_x()), z = letters(at.z, at.of_z());
  const auto log_sum = [&](Letters u, Letters v) { return LogAlignments(u, v, at.parameters); };
  return std::exp(log_sum(x, z) - 0.5 * (log_sum(x, x) + log_sum(z, z)));
}

using Formula = double (*)(const Pair&);
constexpr std::pair<std::string_view, Formula> kFormulas[] = {
    {"gapped", Gapped},     {"local_alignment", LocalAlignment},
    {"mismatch", Mismatch}, {"motif", Motif},
    {"spectrum", Spectrum}, {"wd", WeightedDegree},
    {"wds", ShiftedDegree},
};

}  // namespace

double SequenceValue(std::string_view kernel, const KernelParameters& parameters, const FeatureSubset& region,
                     Letters x, Letters z, int alphabet) {
  for (const auto& [name, formula] : kFormulas) {
    if (name == kernel) return formula({parameters, region, x, z, alphabet});
  }
  throw Error(ErrorKind::kData,
              fmt::format("kernel '{}' cannot be verified: its formula is not known here", kernel));
}

}  // namespace kweave::verify
