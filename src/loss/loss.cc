#include "loss/loss.h"

#include "loss/epsilon_insensitive.h"
#include "loss/hinge.h"
#include "loss/logistic.h"
#include "loss/one_class.h"
#include "loss/squared.h"
#include "loss/squared_hinge.h"

namespace kweave {

namespace {

template <class T>
std::unique_ptr<Loss> Make(const LossParameters&) {
  return std::make_unique<T>();
}

std::unique_ptr<Loss> MakeEpsilonInsensitive(const LossParameters& parameters) {
  return std::make_unique<EpsilonInsensitiveLoss>(parameters.epsilon);
}

std::unique_ptr<Loss> MakeSmoothedHinge(const LossParameters& parameters) {
  return std::make_unique<LogisticLoss>(parameters.sharpness, /*margin=*/1);
}

}  // namespace

std::span<const LossRecord> LossTable() {
  static constexpr LossRecord table[] = {
      {"hinge", "max(0, 1 - y f), with y = +1 or -1: the support vector machine.", Task::kClassify,
       Make<HingeLoss>},
      {"squared-hinge", "1/2 max(0, 1 - y f)^2, with y = +1 or -1.", Task::kClassify, Make<SquaredHingeLoss>},
      {"smoothed-hinge", "log(1 + exp(sharpness (1 - y f))) / sharpness, with y = +1 or -1.", Task::kClassify,
       MakeSmoothedHinge},
      {"logistic", "log(1 + exp(-y f)), with y = +1 or -1: logistic regression, with probabilities.",
       Task::kClassify, Make<LogisticLoss>},
      {"least-squares", "1/2 (f - y)^2, with y = +1 or -1: the least-squares support vector machine.",
       Task::kClassify, Make<SquaredLoss>},
      {"epsilon-insensitive", "max(0, |f - y| - epsilon): support vector regression.", Task::kRegress,
       MakeEpsilonInsensitive},
      {"squared", "1/2 (f - y)^2: kernel ridge regression with lambda = 1/C.", Task::kRegress,
       Make<SquaredLoss>},
      {"one-class", "max(0, rho - f), with the threshold rho learned too.", Task::kOneClass,
       Make<OneClassLoss>},
  };
  return table;
}

}  // namespace kweave
