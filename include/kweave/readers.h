#ifndef KWEAVE_READERS_H_
#define KWEAVE_READERS_H_

#include <span>
#include <string>

#include "kweave/dataset.h"
#include "kweave/option_record.h"

namespace kweave {

/// The options of reading that have a flag, one record each, as TrainOptionRecords has those of training. Not
/// among them: `views` and `labels_required` of ReadOptions, and what Model::ExpectViews fills in.
std::span<const OptionRecord<ReadOptions>> ReadOptionRecords();

/// Reads, and describes in `account`, on one line, what was read: samples, views with their files and
/// features, what the columns were taken for, rows left out and why, and the number of samples per label.
///
///     std::string account;
///     const kweave::Dataset data = kweave::ReadDataset({.views = {{"data", "train.csv"}}}, account);
///     std::cerr << account << '\n';
Dataset ReadDataset(const ReadOptions& options, std::string& account);

}  // namespace kweave

#endif  // KWEAVE_READERS_H_
