#include "data/libsvm_reader.h"
#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kweave;
  for (const Index expected_columns : {0, 7}) {
    AllowErrors([&] {
      const Table table = ReadLibsvm(FuzzFile(data, size), expected_columns);
      RequireConsistent(table);
      Require(RowCount(table.features) == table.rows);
      Require(expected_columns == 0 || ColumnCount(table.features) == expected_columns);
      RequireFinite(table.features);
    });
  }
  return 0;
}
