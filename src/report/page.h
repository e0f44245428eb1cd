// One self-contained page: sections under a heading, with style sheet and script inside. A content security
// policy allows this script alone, by its hash, and nothing from elsewhere.
#ifndef KWEAVE_REPORT_PAGE_H_
#define KWEAVE_REPORT_PAGE_H_

#include <string>
#include <vector>

namespace kweave::html {

struct Section {
  std::string id;
  std::string title;    ///< plain text
  std::string content;  ///< HTML
};

struct Page {
  std::string title;                ///< plain text
  std::string about;                ///< HTML: what was asked of which data
  std::vector<std::string> answer;  ///< HTML, a paragraph each; the first is the answer in one sentence
  std::vector<Section> sections;
  std::string footer;  ///< HTML

  std::string ToHtml() const;
};

}  // namespace kweave::html

#endif  // KWEAVE_REPORT_PAGE_H_
