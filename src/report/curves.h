// Curves of predictions: ROC, precision against recall, calibration.
#ifndef KWEAVE_REPORT_CURVES_H_
#define KWEAVE_REPORT_CURVES_H_

#include <span>
#include <vector>

#include "report/chart.h"

namespace kweave::html {

struct Curves {
  std::vector<ChartPoint> roc;               ///< x: false positive rate, y: true positive rate
  std::vector<ChartPoint> precision_recall;  ///< x: recall, y: precision
};

/// One point for each distinct value, thinned to what a chart can show; empty where one side has no sample.
Curves FindCurves(const std::vector<bool>& is_positive, std::span<const double> value);

struct CalibrationBin {
  double mean_probability = 0;
  double share = 0;             ///< of its samples that are positive
  double lower = 0, upper = 0;  ///< 95 % interval of the share (Wilson)
  std::size_t count = 0;
};

/// Ten bins with as many samples each, as far as equal probabilities allow.
std::vector<CalibrationBin> CalibrationBins(const std::vector<bool>& is_positive,
                                            std::span<const double> probability);

}  // namespace kweave::html

#endif  // KWEAVE_REPORT_CURVES_H_
