#ifndef KWEAVE_TESTS_SUPPORT_JOINT_PROBLEM_H_
#define KWEAVE_TESTS_SUPPORT_JOINT_PROBLEM_H_

#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "loss/loss.h"
#include "regularizer/lp_norm.h"
#include "tests/support/matrix_gram.h"
#include "tests/support/reference_problem.h"
#include "weights/learn_joint.h"

namespace kweave::testing {

/// A small problem with several classes and known optima, from tests/reference/joint.json.
struct JointReference {
  std::string name;
  std::vector<Index> y;
  std::vector<double> C;
  Index classes = 0;
  bool has_bias = true;
  std::shared_ptr<Loss> loss;
  std::vector<std::vector<double>> matrices;
  std::vector<ClassMatrix> class_matrices;
  std::vector<ReferenceOptimum> optima;

  JointRisk risk() const { return {loss.get(), y, C, classes, has_bias}; }
};

inline std::unique_ptr<Loss> LossNamed(const std::string& name) {
  for (const LossRecord& record : LossTable()) {
    if (record.name == name) return record.make({});
  }
  throw std::runtime_error("no loss " + name);
}

/// All problems, read once. Tests run in the source folder.
inline const std::vector<JointReference>& JointReferences() {
  static const std::vector<JointReference> problems = [] {
    std::ifstream file("tests/reference/joint.json");
    if (!file) throw std::runtime_error("cannot open tests/reference/joint.json");
    const nlohmann::json document = nlohmann::json::parse(file);
    std::vector<JointReference> read;
    for (const nlohmann::json& json : document.at("problems")) {
      JointReference& problem = read.emplace_back();
      problem.name = json.at("name");
      problem.y = json.at("y").get<std::vector<Index>>();
      problem.C = json.at("C").get<std::vector<double>>();
      problem.classes = json.at("classes");
      problem.has_bias = json.at("bias");
      problem.loss = LossNamed(json.at("loss"));
      const auto features = json.at("features").get<std::vector<std::vector<double>>>();
      for (const nlohmann::json& kernel : json.at("kernels")) {
        problem.matrices.push_back(ReferenceKernel(features, kernel));
      }
      for (const nlohmann::json& rows : json.at("class_kernels")) {
        ClassMatrix& matrix = problem.class_matrices.emplace_back();
        for (const nlohmann::json& row : rows) {
          for (const nlohmann::json& value : row) matrix.push_back(value);
        }
      }
      for (const nlohmann::json& optimum : json.at("optima")) {
        const nlohmann::json& norm = optimum.at("norm");
        problem.optima.push_back(
            {norm.is_string() ? std::numeric_limits<double>::infinity() : norm.get<double>(),
             optimum.at("lower"), optimum.at("upper")});
      }
    }
    return read;
  }();
  return problems;
}

inline const JointReference& FindJointReference(const std::string& name) {
  for (const JointReference& problem : JointReferences()) {
    if (problem.name == name) return problem;
  }
  throw std::runtime_error("no joint problem " + name);
}

inline Learned LearnJoint(const JointReference& problem, double norm, const LearnOptions& options,
                          const Context& context = {}) {
  MatrixGram gram(problem.matrices);
  RunControl control(context);
  const GramPair pair{&gram, false, [&gram]() -> Gram& { return gram; }};
  return kweave::LearnJoint(pair, {problem.risk(), LpConstraint(norm), problem.class_matrices}, options,
                            control);
}

}  // namespace kweave::testing

#endif  // KWEAVE_TESTS_SUPPORT_JOINT_PROBLEM_H_
