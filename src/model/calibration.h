// Probabilities of classes from the values of a model.
//
// Solves   slopes a that maximise the likelihood of P(class | values), values of samples that the machine has
//          not seen.
// Method   two classes: 1 / (1 + exp(-a f)), one slope on either side of 0 (Platt 1999, with his targets).
//          Several classes: exp(a f_k) / sum_j exp(a f_j), one slope (temperature scaling, Guo et al. 2017).
//          One against one: r_uv = 1 / (1 + exp(-a f_uv)) of all pairs, coupled to the probabilities that
//          agree with them best (the second method of Wu, Lin and Weng 2004, JMLR 5, equation 21), raised to
//          a power, the second slope.
// Takes    values, classes and weights; returns the slopes, which a model keeps.
// Holds    the most probable class is the one that the model predicts; those of several sum to one.
// Costs    some forty passes over the values for a slope; one against one a system of equations per sample.
#ifndef KWEAVE_MODEL_CALIBRATION_H_
#define KWEAVE_MODEL_CALIBRATION_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/content.h"

namespace kweave {

/// Values of samples that their machine was not trained on.
struct CalibrationSamples {
  /// Row after row, one per sample: what Decide gives or, one against one, DecideByMachine.
  std::vector<double> values;
  std::vector<Index> classes;   ///< of every sample
  std::vector<double> weights;  ///< of every sample
};

/// ModelContent::calibration.
std::vector<double> FitCalibration(const ModelContent& content, const CalibrationSamples& samples);

/// Probabilities of one sample: of the second class, or of every class. `decision` are the values that
/// decide; `values` those that FitCalibration takes.
std::vector<double> CalibratedProbabilities(const ModelContent& content, std::span<const double> decision,
                                            std::span<const double> values);

/// How many slopes a model has.
std::size_t CalibrationSize(const ModelContent& content);

/// Whether probabilities follow from the values of single machines.
inline bool CalibratesMachines(const ModelContent& content) {
  return content.multiclass == Multiclass::kOneAgainstOne;
}

}  // namespace kweave

#endif  // KWEAVE_MODEL_CALIBRATION_H_
