// What a page says about a model from the model alone.
#ifndef KWEAVE_REPORT_MODEL_SECTIONS_H_
#define KWEAVE_REPORT_MODEL_SECTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "kweave/model.h"
#include "report/page.h"

namespace kweave::html {

/// What the model is for, in one line of HTML.
std::string PurposeText(const Model& model);
/// Which source or kernel mattered, and whether that is certified: a sentence of HTML.
std::string ImportanceSentence(const Model& model);
/// How close training came to the optimum: a sentence of HTML.
std::string OptimalitySentence(const Summary& summary);

Section SourceSection(const Model& model);
/// `alignments`: of kernels with the labels of the data, by name; may be empty.
Section KernelSection(const Model& model, const std::map<std::string, double>& alignments);
/// Without content where there is one machine.
Section MachineSection(const Model& model);
Section ConvergenceSection(const Model& model);
Section MethodSection(const Model& model, const std::string& reproduce);

/// The source of each kernel of the summary: a view or a file of kernel values.
std::vector<std::string> KernelSources(const Model& model);

}  // namespace kweave::html

#endif  // KWEAVE_REPORT_MODEL_SECTIONS_H_
