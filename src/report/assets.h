// page.css and page.js, which the build puts into the library.
#ifndef KWEAVE_REPORT_ASSETS_H_
#define KWEAVE_REPORT_ASSETS_H_

#include <string_view>

namespace kweave::html {

extern const std::string_view kStyleSheet;
extern const std::string_view kScript;
extern const std::string_view kScriptSha256;  ///< of kScript, in hexadecimal digits

}  // namespace kweave::html

#endif  // KWEAVE_REPORT_ASSETS_H_
