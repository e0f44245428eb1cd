#include "gram/sequence_block.h"

#include <type_traits>
#include <utility>

namespace kweave {
namespace {

template <class T>
class SequenceBlock final : public BaseBlock<T> {
 public:
  explicit SequenceBlock(std::unique_ptr<SequenceValues<T>> values) : values_(std::move(values)) {}

  void GatherLeft(std::span<const Index>, AlignedVector<T>&) const override {}
  void Compute(std::span<const Index> rows, const AlignedVector<T>&, Index begin, Index end, T* out,
               Index stride) const override {
    values_->Rows(rows, begin, end, out, stride);
  }
  double LeftDiagonal(Index i) const override { return values_->LeftDiagonal(i); }
  double RightDiagonal(Index j) const override { return values_->RightDiagonal(j); }

 private:
  std::unique_ptr<SequenceValues<T>> values_;
};

}  // namespace

SequenceRequest SequencesOf(const BaseRequest& request) {
  SequenceRequest sequences;
  sequences.left = LettersOf(std::get<SequenceRows>(request.left->features));
  sequences.right = LettersOf(std::get<SequenceRows>(request.right->features));
  sequences.is_training = request.is_training;
  sequences.parameters = request.parameters;
  sequences.region = RegionOf(*request.subset);
  sequences.alphabet = std::get<SequenceRows>(request.left->features).alphabet;
  return sequences;
}

template <class T>
std::unique_ptr<BaseBlock<T>> MakeSequenceBlock(const BaseRequest& request) {
  const SequenceKernel& kernel = *request.quantity->sequences;
  const SequenceRequest sequences = SequencesOf(request);
  if constexpr (std::is_same_v<T, float>) {
    return std::make_unique<SequenceBlock<T>>(kernel.values_f32(sequences));
  } else {
    return std::make_unique<SequenceBlock<T>>(kernel.values_f64(sequences));
  }
}

template std::unique_ptr<BaseBlock<float>> MakeSequenceBlock<float>(const BaseRequest&);
template std::unique_ptr<BaseBlock<double>> MakeSequenceBlock<double>(const BaseRequest&);

}  // namespace kweave
