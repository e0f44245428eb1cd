#include "kernel/poly.h"

#include "kernel/linear.h"
#include "kernel/rbf.h"

namespace kweave {
namespace {

constexpr double kMostDegree = 100;  // above, values of standardised data leave the range of float32

// A width belongs to a distance, so that of inner products follows from the Euclidean one.
constexpr ParameterRule kParameters[] = {
    {.name = "degree",
     .sentence = "exponent",
     .initial = "3",
     .least = 1,
     .excludes_least = false,
     .most = kMostDegree,
     .is_whole = true},
    {.name = "gamma",
     .sentence = "factor of the inner product",
     .initial = "1",
     .width = ParameterRule::Width::kInverse,
     .width_of = &kSquaredDistanceQuantity},
    {.name = "coef0", .sentence = "what is added to it", .initial = "1", .excludes_least = false},
};

// A polynomial is its own interpolation at one node more than its degree.
Index Terms(const KernelParameters& parameters, double) { return kPowerShape.degree(parameters) + 1; }

constexpr SmoothInFeature kInOneFeature = {.terms = Terms};

}  // namespace

constinit const KernelKind kPoly = {
    .name = "poly",
    .class_name = "Poly",
    .sentence = "(gamma <x,z> + coef0)^degree, polynomial",
    .base = &kInnerProductQuantity,
    .shape = &kPowerShape,
    .parameters = kParameters,
    .in_one_feature = &kInOneFeature,
};

}  // namespace kweave
