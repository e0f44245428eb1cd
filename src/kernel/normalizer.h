#ifndef KWEAVE_KERNEL_NORMALIZER_H_
#define KWEAVE_KERNEL_NORMALIZER_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kweave {

/// One step of a normalisation; statistics come from training data only (gram/normalization.h fits them).
enum class Normalizer {
  kTrace,           ///< k / mean of k(x,x)
  kMultiplicative,  ///< k / variance in feature space: mean of k(x,x) - mean of k(x,z)
  kSpherical,       ///< k(x,z) / sqrt(k(x,x) k(z,z))
  kCenter,          ///< k(x,z) - mean k(x,.) - mean k(.,z) + mean k(.,.)
  kPresence,        ///< k(x,z) s(x) s(z), where s is 0 of samples that lack a view (View::presence)
};

/// One line of the table of normalisers.
struct NormalizerRecord {
  Normalizer normalizer;
  std::string_view name;      ///< in lists and models
  std::string_view sentence;  ///< for the documentation
};
/// Those that may be asked for, in the order of their values: all but kPresence, which follows from the data.
std::span<const NormalizerRecord> NormalizerTable();
/// Whichever has the name, or null.
const NormalizerRecord* FindNormalizer(std::string_view name);

std::string_view ToString(Normalizer normalizer);

/// Parses "spherical,center"; "none" is the empty sequence. Throws Error(kUsage).
std::vector<Normalizer> ParseNormalizers(std::string_view list);

}  // namespace kweave

#endif  // KWEAVE_KERNEL_NORMALIZER_H_
