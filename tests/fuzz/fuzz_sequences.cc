#include "data/sequence_reader.h"
#include "data/sequences.h"
#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kweave;
  for (const auto read : {ReadFasta, ReadFastq, ReadSequenceLines}) {
    for (const char* alphabet : {"", "ACGTN"}) {
      AllowErrors([&] {
        const Table table = read(FuzzFile(data, size), {.alphabet = alphabet});
        RequireConsistent(table);
        const auto& sequences = std::get<SequenceRows>(table.features);
        Require(sequences.rows == table.rows);
        for (Index i = 0; i < sequences.rows; ++i) {
          Require(sequences.lengths[i] > 0 && sequences.lengths[i] <= sequences.cols);
          Require(static_cast<Index>(SequenceText(sequences, i).size()) == sequences.lengths[i]);
        }
      });
    }
  }
  return 0;
}
