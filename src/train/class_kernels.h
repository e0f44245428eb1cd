// Kernels on the classes: what the option class-kernel names, and what was learned of them.
#ifndef KWEAVE_TRAIN_CLASS_KERNELS_H_
#define KWEAVE_TRAIN_CLASS_KERNELS_H_

#include <span>
#include <string>
#include <vector>

#include "kweave/summary.h"
#include "weights/run/joint_gram.h"

namespace kweave {

struct ClassKernels {
  std::vector<std::string> names;
  std::vector<ClassMatrix> matrices;
};

/// The kernels of all specs, in their order:
///
///   identity              1 for the same class, else 0
///   blocks                all matrices that are zero but for a 2 x 2 block with 1 on its diagonal and +1 or
///                         -1 off it
///   matrix(file=FILE)     one kernel: a line of labels, then for each class a line with its label and its
///                         values
///   taxonomy(file=FILE)   for each class a line with its label and its place A/B/...; one kernel for each
///                         level, 1 for classes that share it, and the identity
///
///   matrix(values=JSON), taxonomy(values=JSON)   the same without a file: [["a","b"],[1,0],[0,1]],
///                         {"a":"A/B","b":"A"}
///
/// Without specs the identity. Throws Error(kUsage) on others, Error(kData) on files that do not fit the
/// classes or hold no symmetric positive semidefinite matrix.
ClassKernels MakeClassKernels(std::span<const std::string> specs, std::span<const std::string> classes);

/// The files that the specs name.
std::vector<std::string> FilesOfClassKernels(std::span<const std::string> specs);

/// What weights over `input_kernels` times the class kernels, as JointGram orders them, make of the classes:
/// the matrix K_Y = sum theta_xy K_y, and the classes as points in the plane whose distances are closest to
/// those of K_Y.
ClassKernelReport ReportClassKernels(const ClassKernels& kernels, std::span<const std::string> classes,
                                     std::span<const double> theta, std::span<const double> quadratics);

}  // namespace kweave

#endif  // KWEAVE_TRAIN_CLASS_KERNELS_H_
