#include "kweave/report.h"

#include <fmt/format.h>

#include <optional>

#include "kweave/evaluate.h"
#include "kweave/kernels.h"
#include "kweave/version.h"
#include "report/html.h"
#include "report/model_sections.h"
#include "report/page.h"
#include "report/score_sections.h"

namespace kweave {
namespace {

constexpr Index kMostAligned = 30;  // kernels: what a map of them can still be read with
// Alignments of so many differ from those of all by a few percent.
constexpr Index kMostAlignedSamples = 1000;

void Add(html::Section section, html::Page& page) {
  if (!section.content.empty()) page.sections.push_back(std::move(section));
}

// Sections that need samples; alignments with the labels go to `alignments`.
std::vector<html::Section> DataSections(const Model& model, const Dataset& data, const ReportOptions& options,
                                        const Context& context, html::Page& page,
                                        std::map<std::string, double>& alignments) {
  std::vector<html::Section> sections;
  std::optional<ScoreReport> evaluation;
  if (!data.labels.empty()) evaluation = Evaluate(model, data, {.predict = options.predict}, context);
  if (evaluation) {
    page.answer.insert(page.answer.begin(), html::ScoreSentence(*evaluation));
    sections.push_back(html::ScoreSection(model, data, *evaluation));
  }
  const Prediction prediction =
      evaluation ? evaluation->prediction : model.Predict(data, context, options.predict);
  sections.push_back(html::ContributionSection(model, data, options.predict, prediction, context));
  if (!data.views.empty()) {
    Dataset unlabelled;  // only classes can be aligned with
    if (model.task() == Task::kRegress) unlabelled = data, unlabelled.labels = {};
    const KernelAnalysis analysis =
        AnalyzeModelKernels(model, model.task() == Task::kRegress ? unlabelled : data, kMostAligned,
                            kMostAlignedSamples, context);
    for (const AnalyzedKernel& kernel : analysis.kernels) {
      if (kernel.centered_label_alignment) alignments[kernel.name] = *kernel.centered_label_alignment;
    }
    sections.push_back(html::AlignmentSection(analysis, std::min(data.size, kMostAlignedSamples)));
  }
  return sections;
}

}  // namespace

std::string ModelReport(const Model& model, const Dataset* data, const ReportOptions& options,
                        const Context& context) {
  html::Page page;
  page.title = options.title.empty() ? "Kweave report" : options.title;
  page.about = html::PurposeText(model);
  page.answer = {html::ImportanceSentence(model), html::OptimalitySentence(model.summary())};
  std::map<std::string, double> alignments;
  std::vector<html::Section> of_data;
  if (data != nullptr) of_data = DataSections(model, *data, options, context, page, alignments);
  Add(html::SourceSection(model), page);
  Add(html::KernelSection(model, alignments), page);
  for (html::Section& section : of_data) Add(std::move(section), page);
  Add(html::MachineSection(model), page);
  Add(html::ConvergenceSection(model), page);
  Add(html::MethodSection(model, options.reproduce), page);
  page.footer = fmt::format(
      "<p>Made by Kweave {}. This page is one file and loads nothing from elsewhere.</p>", KWEAVE_VERSION);
  return page.ToHtml();
}

}  // namespace kweave
