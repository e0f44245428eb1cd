#include "data/sequence_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "base/offset.h"
#include "data/sequences.h"
#include "data/text_source.h"
#include "kweave/error.h"

namespace kweave {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view Trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// The lines of a text, without their ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  /// False at the end.
  bool Next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t stop = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, stop);
    if (line.ends_with('\r')) line.remove_suffix(1);
    rest_.remove_prefix(std::min(stop + 1, rest_.size()));
    ++number_;
    return true;
  }
  Index number() const { return number_; }

 private:
  std::string_view rest_;
  Index number_ = 0;
};

/// What stands behind KEY= in a description; KEY begins a word.
std::optional<std::string_view> ValueOf(std::string_view description, std::string_view key) {
  constexpr std::string_view kBetween = " \t,;|[](){}";
  for (std::size_t at = description.find(key); at != std::string_view::npos;
       at = description.find(key, at + 1)) {
    const bool begins_word = at == 0 || kBetween.find(description[at - 1]) != std::string_view::npos;
    std::string_view rest = description.substr(at + key.size());
    if (!begins_word || !rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    return rest.substr(0, rest.find_first_of(kBetween));
  }
  return std::nullopt;
}

/// Collects the records of one file into a table.
class RecordTable {
 public:
  RecordTable(const FileBytes& file, const SequenceOptions& options, Alphabet alphabet)
      : options_(options),
        labels_(options.label_separator),
        builder_(std::move(alphabet), file.bytes.size()) {
    table_.file = file.name;
  }

  /// The line behind its first character: id and description.
  void StartRecord(std::string_view header, Index line) {
    const std::string_view id = header.substr(0, header.find_first_of(" \t"));
    StartRecord(id, FindLabel(header.substr(id.size())), line);
  }

  void StartRecord(std::string_view id, std::optional<std::string_view> label, Index line) {
    ++table_.rows;
    AddId(id, line);
    AddLabel(label);
    builder_.Start();
  }

  void AddLetters(std::string_view line) {
    const std::size_t bad = builder_.Append(line);
    if (bad == std::string_view::npos) return;
    throw Error(ErrorKind::kData,
                fmt::format("{}, record {}, position {}: {}", table_.file, table_.rows, builder_.length() + 1,
                            NoLetter(line[bad], builder_.alphabet())));
  }

  void EndRecord() {
    if (builder_.length() == 0) Fail("the sequence is empty");
    builder_.End();
  }

  Index length() const { return builder_.length(); }

  [[noreturn]] void Fail(const std::string& sentence) const {
    throw Error(ErrorKind::kData, fmt::format("{}, record {}: {}", table_.file, table_.rows, sentence));
  }

  Table Take() {
    if (builder_.unknown() > 0) {
      table_.notes.push_back(fmt::format("{}: {} letter{} not known and match{} nothing", table_.file,
                                         builder_.unknown(), builder_.unknown() == 1 ? " is" : "s are",
                                         builder_.unknown() == 1 ? "es" : ""));
    }
    table_.labels = labels_.Take();
    table_.columns = fmt::format("{} letters", builder_.alphabet().name);
    table_.features = builder_.Take();
    return std::move(table_);
  }

 private:
  std::optional<std::string_view> FindLabel(std::string_view description) const {
    if (!options_.label_key.empty()) return ValueOf(description, options_.label_key);
    const std::optional<std::string_view> label = ValueOf(description, "label");
    return label ? label : ValueOf(description, "class");
  }

  void AddId(std::string_view id, Index line) {
    if (table_.rows == 1) has_ids_ = !id.empty();
    if (has_ids_ == id.empty()) {
      Fail(has_ids_ ? "there is no id, expected one as in record 1"
                    : fmt::format("there is an id, {}, expected none as in record 1", Quoted(id)));
    }
    if (!has_ids_) return;
    if (!IsPlainText(id)) Fail(fmt::format("id {} is not plain text", Quoted(id)));
    table_.ids.emplace_back(id);
    table_.id_lines.push_back(line);
  }

  void AddLabel(std::optional<std::string_view> label) {
    if (table_.rows == 1) has_labels_ = label.has_value();
    const std::string key = options_.label_key.empty() ? "label" : options_.label_key;
    if (has_labels_ && !label) Fail(fmt::format("there is no label, expected {}= as in record 1", key));
    if (!has_labels_ && label)
      Fail(fmt::format("there is a label, {}, expected none as in record 1", Quoted(*label)));
    if (label && !labels_.Add(*label)) Fail(NoLabel(*label));
  }

  const SequenceOptions& options_;
  Table table_;
  LabelList labels_;
  SequenceBuilder builder_;
  bool has_ids_ = false, has_labels_ = false;
};

bool IsSkipped(std::string_view line) { return line.starts_with(';') || Trimmed(line).empty(); }

std::vector<std::string_view> Words(std::string_view line, std::size_t most) {
  std::vector<std::string_view> words;
  while (words.size() < most) {
    line = Trimmed(line);
    if (line.empty()) break;
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    words.push_back(word);
    line.remove_prefix(word.size());
  }
  return words;
}

/// The alphabet given, or that of the letters which `take` finds in the lines of the text.
template <class Take>
Alphabet FindAlphabet(const SequenceOptions& options, std::string_view text, const Take& take) {
  if (!options.alphabet.empty()) return MakeAlphabet(options.alphabet);
  AlphabetGuess guess;
  Lines lines(text);
  for (std::string_view line; !guess.has_enough() && lines.Next(line);) guess.Add(take(line, lines.number()));
  return MakeAlphabet(guess.Name());
}

std::string_view Beginning(const FileBytes& file) {
  const std::size_t start = file.bytes.starts_with("\xef\xbb\xbf") ? 3 : 0;
  return file.bytes.substr(std::min(file.bytes.find_first_not_of(" \t\r\n", start), file.bytes.size()));
}

}  // namespace

bool IsFasta(const FileBytes& file) { return Beginning(file).starts_with('>'); }

bool IsFastq(const FileBytes& file) {
  // An ARFF file begins with @, too.
  std::string_view text = Beginning(file);
  if (!text.starts_with('@')) return false;
  for (int line = 1; line <= 2; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  return text.starts_with('+');
}

bool IsSequenceLines(const FileBytes& file) {
  std::string_view line;
  constexpr std::size_t kMostWords = 4;  // one more than there are
  if (!Lines(Beginning(file)).Next(line)) return false;
  const std::vector<std::string_view> words = Words(line, kMostWords);
  return words.size() == 3 && words[2].size() > 1 && std::ranges::all_of(words[2], [](unsigned char c) {
           return std::isalpha(c) != 0 || c == '*' || c == '-';
         });
}

Table ReadFasta(const FileBytes& file, const SequenceOptions& options) {
  const TextSource source(file);
  const auto letters = [](std::string_view line, Index) {
    return line.starts_with('>') || IsSkipped(line) ? std::string_view() : line;
  };
  RecordTable records(file, options, FindAlphabet(options, source.text(), letters));
  Lines lines(source.text());
  bool has_record = false;
  for (std::string_view line; lines.Next(line);) {
    if (line.starts_with('>')) {
      if (has_record) records.EndRecord();
      records.StartRecord(line.substr(1), lines.number());
      has_record = true;
    } else if (!IsSkipped(line)) {
      if (!has_record) source.FailLine(line.data(), "expected a line that begins with >");
      records.AddLetters(line);
    }
  }
  if (!has_record)
    throw Error(ErrorKind::kData, fmt::format("{}: there is no record, expected FASTA", file.name));
  records.EndRecord();
  return records.Take();
}

Table ReadFastq(const FileBytes& file, const SequenceOptions& options) {
  constexpr Index kLinesOfRecord = 4;  // as the format has it
  const TextSource source(file);
  const auto letters = [](std::string_view line, Index number) {
    return number % kLinesOfRecord == 2 ? line : std::string_view();
  };
  RecordTable records(file, options, FindAlphabet(options, source.text(), letters));
  Lines lines(source.text());
  for (std::string_view line; lines.Next(line);) {
    if (Trimmed(line).empty()) continue;
    if (!line.starts_with('@')) source.FailLine(line.data(), "expected a line that begins with @");
    records.StartRecord(line.substr(1), lines.number());
    if (!lines.Next(line)) records.Fail("the file ends before its letters");
    records.AddLetters(line);
    if (!lines.Next(line)) records.Fail("the file ends before its line +");
    if (!line.starts_with('+'))
      records.Fail(fmt::format("found {}, expected a line that begins with +", Quoted(line)));
    if (!lines.Next(line)) records.Fail("the file ends before its qualities");
    if (static_cast<Index>(Trimmed(line).size()) != records.length()) {
      records.Fail(fmt::format("{} qualities for {} letters", Trimmed(line).size(), records.length()));
    }
    records.EndRecord();
  }
  return records.Take();
}

Table ReadSequenceLines(const FileBytes& file, const SequenceOptions& options) {
  constexpr std::size_t kMostWords = 4;  // one more than there are
  const TextSource source(file);
  const auto letters = [](std::string_view line, Index) {
    const std::vector<std::string_view> words = Words(line, 3);
    return words.size() == 3 ? words[2] : std::string_view();
  };
  RecordTable records(file, options, FindAlphabet(options, source.text(), letters));
  Lines lines(source.text());
  for (std::string_view line; lines.Next(line);) {
    const std::vector<std::string_view> words = Words(line, kMostWords);
    if (words.empty()) continue;
    if (words.size() != 3)
      source.FailLine(line.data(), "expected a label, an id (- for none) and a sequence");
    records.StartRecord(words[1] == "-" ? std::string_view() : words[1], words[0], lines.number());
    records.AddLetters(words[2]);
    records.EndRecord();
  }
  return records.Take();
}

}  // namespace kweave
