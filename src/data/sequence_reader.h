#ifndef KWEAVE_DATA_SEQUENCE_READER_H_
#define KWEAVE_DATA_SEQUENCE_READER_H_

#include <string>

#include "data/file_bytes.h"
#include "data/table.h"

namespace kweave {

struct SequenceOptions {
  std::string alphabet = {};         ///< as in ReadOptions; empty: found from the letters
  std::string label_key = {};        ///< KEY of KEY=LABEL in descriptions; empty: `label`, else `class`
  std::string label_separator = {};  ///< as in ReadOptions
};

/// Reads FASTA: records of a line `>ID DESCRIPTION` and lines of letters up to the next such line. The id is
/// the word behind `>`; without a blank between them it may not be missing in some records only. The label is
/// the word behind `label=` or `class=` in the description, up to a blank, a comma, a semicolon, a bar or a
/// bracket; all records have one or none has. Lines that are blank or begin with `;` are skipped. Throws
/// Error(kData) naming file, record and, of a letter, its position in the sequence, both from 1.
Table ReadFasta(const FileBytes& file, const SequenceOptions& options);

/// Reads FASTQ: records of four lines, `@ID DESCRIPTION`, letters, `+...` and qualities, which are not used.
Table ReadFastq(const FileBytes& file, const SequenceOptions& options);

/// Reads lines of a label, an id (`-`: none) and a sequence with blanks between them.
Table ReadSequenceLines(const FileBytes& file, const SequenceOptions& options);

bool IsFasta(const FileBytes& file);
bool IsFastq(const FileBytes& file);
bool IsSequenceLines(const FileBytes& file);

}  // namespace kweave

#endif  // KWEAVE_DATA_SEQUENCE_READER_H_
