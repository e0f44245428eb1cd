#ifndef KWEAVE_KERNEL_WORD_KERNELS_H_
#define KWEAVE_KERNEL_WORD_KERNELS_H_

#include "kernel/kernel_kind.h"

namespace kweave {

/// Words of k letters that two sequences have in common (Leslie, Eskin, Noble: The spectrum kernel, 2002).
extern const KernelKind kSpectrum;
/// Words within m mismatches of words of both (Leslie, Eskin, Cohen, Weston, Noble: Mismatch string kernels
/// for discriminative protein classification, 2004).
extern const KernelKind kMismatch;
/// Words of k letters with gaps, within windows of l (Ghandi, Lee, Mohammad-Noori, Beer: Enhanced regulatory
/// sequence prediction using gapped k-mer features, 2014).
extern const KernelKind kGapped;
/// Relative frequencies of letters at the places of a pattern (Ong, Zien: An automated combination of kernels
/// for predicting protein subcellular localization, 2008).
extern const KernelKind kMotif;

}  // namespace kweave

#endif  // KWEAVE_KERNEL_WORD_KERNELS_H_
