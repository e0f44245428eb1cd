// What a page says about predictions of samples that the model was not trained on.
#ifndef KWEAVE_REPORT_SCORE_SECTIONS_H_
#define KWEAVE_REPORT_SCORE_SECTIONS_H_

#include <string>

#include "kweave/evaluate.h"
#include "kweave/kernels.h"
#include "report/page.h"

namespace kweave::html {

/// How good the predictions are: a sentence of HTML.
std::string ScoreSentence(const ScoreReport& evaluation);

/// Scores, curves, confusion or residuals.
Section ScoreSection(const Model& model, const Dataset& data, const ScoreReport& evaluation);
/// What every source adds to the prediction of every sample; without content where the function is no sum of
/// parts.
Section ContributionSection(const Model& model, const Dataset& data, const PredictOptions& options,
                            const Prediction& prediction, const Context& context);
Section AlignmentSection(const KernelAnalysis& analysis, Index samples);

}  // namespace kweave::html

#endif  // KWEAVE_REPORT_SCORE_SECTIONS_H_
