#ifndef KWEAVE_READERS_H_
#define KWEAVE_READERS_H_

#include <span>
#include <string>

#include "kweave/dataset.h"
#include "kweave/option_record.h"

namespace kweave {

/// The options of reading that one word says, as TrainOptionRecords has those of training. Which files are
/// read, and what is expected of them, is not among them: `views` and `labels_required` of ReadOptions, and
/// what Model::ExpectViews fills in.
std::span<const OptionRecord<ReadOptions>> ReadOptionRecords();

/// Reads, and says in `account`, on one line, what was read: samples, views with their files and features,
/// what columns were taken for, rows left out and why, and how many samples have which label.
Dataset ReadDataset(const ReadOptions& options, std::string& account);

}  // namespace kweave

#endif  // KWEAVE_READERS_H_
