/// A page about a model, or a selection, for people: which sources and kernels matter and how sure that is,
/// how training went, and, where there is data, how good its predictions are and what they are made of.
///
///     const kweave::Model model = kweave::Model::Load("model.kweave");
///     kweave::OutputFile file("report.html");
///     file.Write(kweave::ModelReport(model, nullptr, {}, kweave::Context()));
///     file.Commit();
#ifndef KWEAVE_REPORT_H_
#define KWEAVE_REPORT_H_

#include <string>

#include "kweave/context.h"
#include "kweave/dataset.h"
#include "kweave/model.h"
#include "kweave/select.h"

namespace kweave {

/// What the page cannot find in the model.
struct ReportOptions {
  std::string title;       ///< plain text; empty: what the model does
  std::string reproduce;   ///< plain text: the commands or the code that make the model; empty: not shown
  std::string data_name;   ///< what the data is called, such as its file; may be empty
  PredictOptions predict;  ///< where the values of precomputed kernels are, if `data` needs them
};

/// One HTML file that needs no other: style, pictures and script are inside, and everything that comes from
/// the model or the data is escaped. `data`, samples that the model was not trained on, adds scores,
/// contributions and alignments; null: none.
std::string ModelReport(const Model& model, const Dataset* data, const ReportOptions& options,
                        const Context& context);

/// The same about a selection that has ended (kweave/select.h): scores over the grid, baselines, nested
/// folds, permutations, how the weights spread over the folds, and its model.
std::string SelectionReport(const Selection& selection, const ReportOptions& options);

}  // namespace kweave

#endif  // KWEAVE_REPORT_H_
