#include "kernel/word_kernels.h"

#include <fmt/format.h>

#include <cmath>

#include "compute/cpu/mismatch_profile.h"
#include "kernel/word_map.h"
#include "kweave/error.h"

namespace kweave {
namespace {

[[noreturn]] void Fail(const std::string& sentence) { throw Error(ErrorKind::kUsage, sentence); }

int LettersOf(std::string_view alphabet) { return static_cast<int>(alphabet.size()); }

// Whether `rc=1`; only nucleotides have a complement.
bool AddsReverse(const KernelKind& kind, double rc, std::string_view alphabet) {
  if (rc == 0) return false;
  if (alphabet != "ACGT" && alphabet != "ACGU") {
    Fail(fmt::format("{}: rc=1 adds the reverse complement, which needs DNA or RNA, not the alphabet {}",
                     kind.name, alphabet));
  }
  return true;
}

// Equal words are numbered; there must be enough numbers.
WordMap EqualWordsOf(const KernelKind& kind, WordShape shape) {
  if (shape.WordsInAll() == 0) {
    Fail(fmt::format("{}: there are more than 2^64 words of {} letters out of {}, expected shorter words",
                     kind.name, shape.letters(), shape.alphabet));
  }
  return {std::move(shape), {}, false};
}

WordMap SpectrumMap(const KernelParameters& parameters, std::string_view alphabet) {
  const auto [k, rc, unused] = parameters;
  return EqualWordsOf(kSpectrum, WordShape::Contiguous(static_cast<int>(k), LettersOf(alphabet),
                                                       AddsReverse(kSpectrum, rc, alphabet)));
}

WordMap MismatchMap(const KernelParameters& parameters, std::string_view alphabet) {
  const auto [k, m, rc] = parameters;
  if (!(m < k)) Fail(fmt::format("mismatch: m is {}, expected less than k, which is {}", m, k));
  const int letters = static_cast<int>(k), kinds = LettersOf(alphabet);
  return {WordShape::Contiguous(letters, kinds, AddsReverse(kMismatch, rc, alphabet)),
          MismatchWeights(letters, static_cast<int>(m), kinds), false};
}

WordMap GappedMap(const KernelParameters& parameters, std::string_view alphabet) {
  const auto [l, k, rc] = parameters;
  if (!(k <= l)) Fail(fmt::format("gapped: k is {}, expected at most l, which is {}", k, l));
  return {WordShape::Contiguous(static_cast<int>(l), LettersOf(alphabet), AddsReverse(kGapped, rc, alphabet)),
          GappedWeights(static_cast<int>(l), static_cast<int>(k)), false};
}

// The digits of the pattern, 1 for a letter and 0 for any.
WordMap MotifMap(const KernelParameters& parameters, std::string_view alphabet) {
  const std::string pattern = fmt::format("{:.0f}", parameters[0]);
  WordShape shape;
  shape.alphabet = LettersOf(alphabet);
  for (std::size_t place = 0; place < pattern.size(); ++place) {
    if (pattern[place] == '1') shape.places.push_back(static_cast<int>(place));
  }
  WordMap map = EqualWordsOf(kMotif, std::move(shape));
  map.is_relative = true;
  return map;
}

using MakeMap = WordMap (*)(const KernelParameters& parameters, std::string_view alphabet);

template <class T, MakeMap map>
std::unique_ptr<SequenceValues<T>> Values(const SequenceRequest& request) {
  return MakeWordValues<T>(request, map(request.parameters, request.alphabet));
}

template <MakeMap map>
std::size_t Bytes(const SequenceRequest& request) {
  return WordValueBytes(request, map(request.parameters, request.alphabet));
}

template <MakeMap map>
double Plain(std::span<const int> x, std::span<const int> z, const KernelParameters& parameters,
             const Region& region, std::string_view alphabet) {
  return PlainWordValue(x, z, map(parameters, alphabet), region);
}

template <MakeMap map>
constexpr SequenceKernel kWordSequences = {.needs_equal_lengths = false,
                                           .values_f32 = Values<float, map>,
                                           .values_f64 = Values<double, map>,
                                           .bytes = Bytes<map>,
                                           .plain = Plain<map>};

template <MakeMap map>
constexpr BaseQuantity kWordQuantity = {
    .name = "common words", .source = BaseQuantity::Source::kSequences, .sequences = &kWordSequences<map>};

constexpr double kYesOrNo[] = {0, 1};
constexpr ParameterRule kReverseRule = {.name = "rc",
                                        .sentence = "1: words of the reverse complement count, too",
                                        .initial = "0",
                                        .least = 0,
                                        .excludes_least = false,
                                        .most = 1,
                                        .is_whole = true,
                                        .choices = kYesOrNo};

// Sixty-four bits number words of so many letters out of two.
constexpr double kLongestEqualWord = 63;

constexpr ParameterRule kSpectrumRules[] = {{.name = "k",
                                             .sentence = "letters of a word",
                                             .initial = "3",
                                             .least = 1,
                                             .excludes_least = false,
                                             .most = kLongestEqualWord,
                                             .is_whole = true},
                                            kReverseRule};

constexpr ParameterRule kMismatchRules[] = {{.name = "k",
                                             .sentence = "letters of a word",
                                             .initial = "5",
                                             .least = 1,
                                             .excludes_least = false,
                                             .most = kMostProfileLetters,
                                             .is_whole = true},
                                            {.name = "m",
                                             .sentence = "letters in which a word may differ, less than k",
                                             .initial = "1",
                                             .least = 0,
                                             .excludes_least = false,
                                             .most = kMostProfileLetters,
                                             .is_whole = true},
                                            kReverseRule};

constexpr ParameterRule kGappedRules[] = {{.name = "l",
                                           .sentence = "letters of a window",
                                           .initial = "11",
                                           .least = 1,
                                           .excludes_least = false,
                                           .most = kMostProfileLetters,
                                           .is_whole = true},
                                          {.name = "k",
                                           .sentence = "letters that must be equal, at most l",
                                           .initial = "7",
                                           .least = 1,
                                           .excludes_least = false,
                                           .most = kMostProfileLetters,
                                           .is_whole = true},
                                          kReverseRule};

constexpr double kPatterns[] = {1,     11,    101,   111,   1001,  1011,  1101,  1111,
                                10001, 10011, 10101, 10111, 11001, 11011, 11101, 11111};
constexpr ParameterRule kMotifRules[] = {{.name = "pattern",
                                          .sentence = "which of up to 5 letters count: 1 does, 0 does not",
                                          .initial = "1",
                                          .least = 1,
                                          .excludes_least = false,
                                          .most = 11111,
                                          .is_whole = true,
                                          .choices = kPatterns}};

}  // namespace

std::optional<WordMap> FindWordMap(const KernelKind& kind, const KernelParameters& parameters,
                                   std::string_view alphabet) {
  if (&kind == &kSpectrum) return SpectrumMap(parameters, alphabet);
  if (&kind == &kMismatch) return MismatchMap(parameters, alphabet);
  if (&kind == &kGapped) return GappedMap(parameters, alphabet);
  if (&kind == &kMotif) return MotifMap(parameters, alphabet);
  return std::nullopt;
}

constinit const KernelKind kSpectrum = {
    .name = "spectrum",
    .class_name = "Spectrum",
    .sentence = "sequences: sum over words of k letters of how often each occurs in x times in z",
    .base = &kWordQuantity<SpectrumMap>,
    .parameters = kSpectrumRules,
};

constinit const KernelKind kMismatch = {
    .name = "mismatch",
    .class_name = "Mismatch",
    .sentence = "sequences: the same of words that differ in at most m letters from those that occur",
    .base = &kWordQuantity<MismatchMap>,
    .parameters = kMismatchRules,
};

constinit const KernelKind kGapped = {
    .name = "gapped",
    .class_name = "Gapped",
    .sentence =
        "sequences: over pairs of words of l letters, sum of in how many sets of k places they are equal",
    .base = &kWordQuantity<GappedMap>,
    .parameters = kGappedRules,
};

constinit const KernelKind kMotif = {
    .name = "motif",
    .class_name = "Motif",
    .sentence = "sequences: product of relative frequencies of the letters at the places of a pattern",
    .base = &kWordQuantity<MotifMap>,
    .parameters = kMotifRules,
};

}  // namespace kweave
