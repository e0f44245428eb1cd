#ifndef KWEAVE_MODEL_ENCODE_PROBLEM_H_
#define KWEAVE_MODEL_ENCODE_PROBLEM_H_

#include "model/json.h"
#include "model/problem.h"

namespace kweave {

Json EncodeProblem(const ModelProblem& problem);

/// Throws Error(kData), or what Json throws, when anything is missing or of the wrong type.
ModelProblem DecodeProblem(const Json& json);

}  // namespace kweave

#endif  // KWEAVE_MODEL_ENCODE_PROBLEM_H_
