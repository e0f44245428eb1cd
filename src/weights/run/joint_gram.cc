#include "weights/run/joint_gram.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/offset.h"

namespace kweave {

namespace {

// The part of a vector over pairs that belongs to one class.
template <class T>
std::span<T> OfClass(std::span<T> values, Index u, Index samples) {
  return values.subspan(Offset(u * samples), Offset(samples));
}

class JointExpansion final : public MovableExpansion {
 public:
  explicit JointExpansion(const JointGram& gram) : gram_(gram), parts_(Offset(gram.classes())) {}

  // Classes whose part is zero need none.
  void MoveTo(std::span<const double> a) override {
    a_.assign(a.begin(), a.end());
    for (Index u = 0; u < gram_.classes(); ++u) {
      const std::span<const double> part = OfClass(a, u, left_count());
      std::unique_ptr<MovableExpansion>& expansion = parts_[Offset(u)];
      const bool is_zero = std::all_of(part.begin(), part.end(), [](double value) { return value == 0; });
      if (!is_zero || expansion) ExpandInto(gram_.samples(), part, expansion);
    }
    if (gram_.given() != nullptr) ExpandInto(*gram_.given(), a, given_);
  }

  void Quadratics(std::span<double> q) const override {
    std::fill(q.begin(), q.end(), 0.0);
    std::vector<double> values(Offset(gram_.samples().kernels()));
    for (Index u = 0; u < gram_.classes(); ++u) {
      if (!parts_[Offset(u)]) continue;
      parts_[Offset(u)]->Quadratics(values);
      Add(u, u, 1, values, q);
      for (Index v = 0; v < u; ++v) {
        if (!IsJoined(u, v) || !parts_[Offset(v)]) continue;
        parts_[Offset(u)]->Products(OfClass(std::span<const double>(a_), v, left_count()), values);
        Add(u, v, 2, values, q);
      }
    }
    if (given_) given_->Quadratics(OfGiven(q));
  }

  void Products(std::span<const double> b, std::span<double> products) const override {
    std::fill(products.begin(), products.end(), 0.0);
    std::vector<double> values(Offset(gram_.samples().kernels()));
    for (Index u = 0; u < gram_.classes(); ++u) {
      if (!parts_[Offset(u)]) continue;
      for (Index v = 0; v < gram_.classes(); ++v) {
        if (!IsJoined(u, v)) continue;
        parts_[Offset(u)]->Products(OfClass(b, v, left_count()), values);
        Add(u, v, 1, values, products);
      }
    }
    if (given_) given_->Products(b, OfGiven(products));
  }

  void Outputs(std::span<const double> theta, std::span<double> out) const override {
    std::fill(out.begin(), out.end(), 0.0);
    if (given_) given_->Outputs(gram_.GivenTheta(theta), out);
    const Index right = gram_.samples().right_count();
    std::vector<double> values(Offset(right));
    for (const ClassTerm& term : gram_.TermsAt(theta)) {
      for (Index v = 0; v < gram_.classes(); ++v) {
        if (!parts_[Offset(v)]) continue;
        parts_[Offset(v)]->Outputs(term.theta, values);
        for (Index u = 0; u < gram_.classes(); ++u) {
          const double share = term.classes[Offset(u * gram_.classes() + v)];
          if (share == 0) continue;
          const std::span<double> to = OfClass(out, u, right);
          for (std::size_t i = 0; i < values.size(); ++i) to[i] += share * values[i];
        }
      }
    }
  }

 private:
  Index left_count() const { return gram_.samples().left_count(); }

  std::span<double> OfGiven(std::span<double> values) const {
    return values.subspan(Offset(gram_.products()));
  }

  bool IsJoined(Index u, Index v) const {
    return std::any_of(gram_.matrices().begin(), gram_.matrices().end(), [&](const ClassMatrix& matrix) {
      return matrix[Offset(u * gram_.classes() + v)] != 0;
    });
  }

  // What kernels on samples say between two classes, to all products of kernels.
  void Add(Index u, Index v, double factor, std::span<const double> values, std::span<double> sums) const {
    const std::size_t count = gram_.matrices().size();
    for (std::size_t y = 0; y < count; ++y) {
      const double share = factor * gram_.matrices()[y][Offset(u * gram_.classes() + v)];
      if (share == 0) continue;
      for (std::size_t x = 0; x < values.size(); ++x) sums[x * count + y] += share * values[x];
    }
  }

  const JointGram& gram_;
  std::vector<double> a_;
  std::vector<std::unique_ptr<MovableExpansion>> parts_;  // by class
  std::unique_ptr<MovableExpansion> given_;
};

class JointMatrix final : public LearnedMatrix {
 public:
  JointMatrix(const JointGram& gram, std::span<const double> theta) : LearnedMatrix(theta), gram_(gram) {
    for (ClassTerm& term : gram.TermsAt(theta)) {
      terms_.push_back({gram.samples().Learn(term.theta), std::move(term.classes)});
    }
    if (gram.given() != nullptr) given_ = gram.given()->Learn(gram.GivenTheta(theta));
  }

  void Rows(std::span<const Index> rows, float* out, Index stride) const override {
    FillRows(rows, out, stride);
  }
  void Rows(std::span<const Index> rows, double* out, Index stride) const override {
    FillRows(rows, out, stride);
  }

  void Diagonal(std::span<double> out) const override {
    std::fill(out.begin(), out.end(), 0.0);
    if (given_) {
      given_->Diagonal(out);
      for (double& value : out) value += given_->shift();
    }
    const Index left = gram_.samples().left_count();
    std::vector<double> values(Offset(left));
    for (const Term& term : terms_) {
      term.samples->Diagonal(values);
      for (Index u = 0; u < gram_.classes(); ++u) {
        const double share = term.classes[Offset(u * gram_.classes() + u)];
        for (Index i = 0; i < left; ++i) {
          out[Offset(u * left + i)] += share * (values[Offset(i)] + term.samples->shift());
        }
      }
    }
  }

 private:
  struct Term {
    std::shared_ptr<const LearnedMatrix> samples;
    ClassMatrix classes;
  };

  template <class T>
  void FillRows(std::span<const Index> rows, T* out, Index stride) const {
    const Index left = gram_.samples().left_count(), right = gram_.samples().right_count();
    std::vector<T> row(Offset(right));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      T* to = out + static_cast<Index>(r) * stride;
      std::fill_n(to, gram_.right_count(), T{0});
      if (given_) {
        given_->Rows(rows.subspan(r, 1), to, gram_.right_count());
        const auto shift = static_cast<T>(given_->shift());
        for (Index j = 0; j < gram_.right_count(); ++j) to[j] += shift;
      }
      const Index u = rows[r] / left, i = rows[r] % left;
      for (const Term& term : terms_) {
        term.samples->Rows(std::span(&i, 1), row.data(), right);
        const auto shift = static_cast<T>(term.samples->shift());
        for (Index v = 0; v < gram_.classes(); ++v) {
          const auto share = static_cast<T>(term.classes[Offset(u * gram_.classes() + v)]);
          for (Index j = 0; j < right && share != 0; ++j)
            to[v * right + j] += share * (row[Offset(j)] + shift);
        }
      }
    }
  }

  const JointGram& gram_;
  std::vector<Term> terms_;
  std::shared_ptr<const LearnedMatrix> given_;
};

GramShape ShapeOf(const Gram& samples, Index classes, std::span<const ClassMatrix> matrices,
                  const Gram* given) {
  double largest = 0;
  for (const ClassMatrix& matrix : matrices) {
    for (const double value : matrix) largest = std::max(largest, std::abs(value));
  }
  GramShape shape{.left_count = samples.left_count() * classes,
                  .right_count = samples.right_count() * classes,
                  .kernels = samples.kernels() * static_cast<Index>(matrices.size()),
                  .table_error = largest * samples.shape().table_error};
  for (const double error : samples.shape().rounding_errors)
    shape.rounding_errors.insert(shape.rounding_errors.end(), matrices.size(), largest * error);
  if (given == nullptr) return shape;
  const auto products = static_cast<std::size_t>(shape.kernels);
  shape.kernels += given->kernels();
  shape.table_error = std::max(shape.table_error, given->shape().table_error);
  const std::vector<double>& errors = given->shape().rounding_errors;
  if (!shape.rounding_errors.empty() || !errors.empty()) {
    shape.rounding_errors.resize(static_cast<std::size_t>(shape.kernels));
    std::ranges::copy(errors, shape.rounding_errors.begin() + static_cast<std::ptrdiff_t>(products));
  }
  return shape;
}

std::vector<ClassMatrix> MatricesOrIdentity(Index classes, std::span<const ClassMatrix> matrices) {
  if (matrices.empty()) return {IdentityClasses(classes)};
  return {matrices.begin(), matrices.end()};
}

}  // namespace

ClassMatrix IdentityClasses(Index classes) {
  ClassMatrix matrix(Offset(classes * classes), 0.0);
  for (Index u = 0; u < classes; ++u) matrix[Offset(u * classes + u)] = 1;
  return matrix;
}

JointGram::JointGram(Gram& samples, Index classes, std::span<const ClassMatrix> matrices, Gram* given)
    : Gram(ShapeOf(samples, classes, MatricesOrIdentity(classes, matrices), given)),
      samples_(samples),
      classes_(classes),
      matrices_(MatricesOrIdentity(classes, matrices)),
      given_(given) {}

std::vector<ClassTerm> JointGram::TermsAt(std::span<const double> theta) const {
  const std::size_t inputs = Offset(samples_.kernels()), count = matrices_.size();
  std::vector<ClassTerm> terms;
  if (count <= inputs) {  // one for each kernel on classes
    for (std::size_t y = 0; y < count; ++y) {
      ClassTerm term{std::vector<double>(inputs), matrices_[y]};
      for (std::size_t x = 0; x < inputs; ++x) term.theta[x] = theta[x * count + y];
      terms.push_back(std::move(term));
    }
  } else {
    for (std::size_t x = 0; x < inputs; ++x) {
      ClassTerm term{std::vector<double>(inputs), ClassMatrix(Offset(classes_ * classes_), 0.0)};
      double largest = 0;
      for (std::size_t y = 0; y < count; ++y) largest = std::max(largest, theta[x * count + y]);
      term.theta[x] = largest;
      for (std::size_t y = 0; y < count && largest > 0; ++y) {
        const double share = theta[x * count + y] / largest;
        for (std::size_t k = 0; k < term.classes.size(); ++k) term.classes[k] += share * matrices_[y][k];
      }
      terms.push_back(std::move(term));
    }
  }
  std::erase_if(terms, [](const ClassTerm& term) {
    return std::all_of(term.theta.begin(), term.theta.end(), [](double value) { return value == 0; });
  });
  return terms;
}

std::shared_ptr<const LearnedMatrix> JointGram::MakeLearned(std::span<const double> theta) {
  return std::make_shared<JointMatrix>(*this, theta);
}

std::vector<VectorAnswer> JointGram::AnswerAll(std::span<const VectorRequest> requests) {
  std::vector<VectorAnswer> answers(requests.size());
  for (std::size_t v = 0; v < requests.size(); ++v) {
    auto expansion = std::make_unique<JointExpansion>(*this);
    expansion->MoveTo(requests[v].a);
    if (requests[v].wants_quadratics) {
      answers[v].quadratics.resize(Offset(kernels()));
      expansion->Quadratics(answers[v].quadratics);
    }
    if (requests[v].has_outputs()) {
      answers[v].outputs.resize(Offset(right_count()));
      expansion->Outputs(requests[v].theta, answers[v].outputs);
    }
    if (requests[v].keeps_expansion) answers[v].expansion = std::move(expansion);
  }
  return answers;
}

}  // namespace kweave
