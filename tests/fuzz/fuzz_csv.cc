#include "data/csv_reader.h"
#include "data/csv_scanner.h"
#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kweave;
  const FileBytes file = FuzzFile(data, size);
  CsvOptions usual;
  usual.delimiter = DetectDelimiter(file.bytes);
  CsvOptions by_index = usual;
  by_index.label_column = "2";
  by_index.id_column = "1";
  by_index.expected_columns = 2;
  for (const CsvOptions& options : {usual, by_index}) {
    AllowErrors([&] {
      const Table table = ReadCsv(file, options);
      RequireConsistent(table);
      Require(RowCount(table.features) == table.rows);
      const auto columns = static_cast<std::size_t>(ColumnCount(table.features));
      Require(table.feature_names.empty() || table.feature_names.size() == columns);
      RequireFinite(table.features);
    });
    AllowErrors([&] { RequireConsistent(ReadCsvLabels(file, options)); });
  }
  return 0;
}
