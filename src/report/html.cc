#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kweave::html {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD, for what cannot be shown

// How many bytes the UTF-8 character at the front of `text` has; 0: it is none.
std::size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const std::size_t count = byte(0) < 0x80       ? 1
                            : byte(0) >> 5 == 6  ? 2
                            : byte(0) >> 4 == 14 ? 3
                            : byte(0) >> 3 == 30 ? 4
                                                 : 0;
  if (count == 0 || count > text.size()) return 0;
  unsigned code = count == 1 ? byte(0) : byte(0) & (0x7FU >> count);
  for (std::size_t k = 1; k < count; ++k) {
    if (byte(k) >> 6 != 2) return 0;
    code = code << 6 | (byte(k) & 0x3FU);
  }
  constexpr unsigned kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // by bytes; what is below has fewer
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  return code < kLeast[count] || code > 0x10FFFF || is_surrogate ? 0 : count;
}

std::string_view Entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

std::string_view CellClass(const Column& column) {
  return column.is_number ? R"( class="number")" : column.is_wide ? R"( class="wide")" : "";
}

double Clamped(double part) { return std::isnan(part) ? 0 : std::clamp(part, 0.0, 1.0); }

}  // namespace

std::string Escape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t count = CharacterBytes(text);
    const bool is_control = count == 1 && (static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7F);
    const std::string_view entity = count == 1 ? Entity(text[0]) : std::string_view();
    out += count == 0 || is_control ? kReplacement : entity.empty() ? text.substr(0, count) : entity;
    text.remove_prefix(std::max<std::size_t>(count, 1));
  }
  return out;
}

std::string Name(std::string_view text) { return "<bdi>" + Escape(text) + "</bdi>"; }

std::string Number(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–"; }

std::string Percent(double share) {
  if (!std::isfinite(share)) return "–";
  constexpr double kFewest = 0.0005;  // below it one digit would show 0
  return share > 0 && share < kFewest ? "&lt; 0.1 %" : fmt::format("{:.1f} %", 100 * share);
}

std::string PercentRange(const WeightInterval& shares, std::string_view word) {
  return fmt::format("{:.1f} {} {:.1f} %", 100 * shares.lower, word, 100 * shares.upper);
}

std::string Count(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string Bar(double value, const std::optional<WeightInterval>& interval, double full) {
  const auto place = [full](double x) { return 100 * Clamped(full > 0 ? x / full : 0); };
  std::string whisker;
  if (interval) {
    const double begin = place(interval->lower), end = place(interval->upper);
    whisker = fmt::format(R"(<b style="left:{:.2f}%;width:{:.2f}%"></b>)", begin, std::max(end - begin, 0.0));
  }
  return fmt::format(R"(<span class="bar" aria-hidden="true"><i style="width:{:.2f}%"></i>{}</span>)",
                     place(value), whisker);
}

Cell NumberCell(double value) { return {Number(value), fmt::format("{:.9g}", value)}; }
Cell PercentCell(double share) { return {Percent(share), fmt::format("{:.9g}", share)}; }
Cell NameCell(std::string_view name) { return {Name(name), std::string(name)}; }

std::string Table::ToHtml() const {
  const bool is_long = rows.size() > rows_at_first;
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(
      out,
      R"(<div class="table" data-first="{}"><div class="scroll" tabindex="0" role="region" aria-label="{}">)",
      is_long ? rows_at_first : 0, Escape(caption));
  fmt::format_to(out, "<table><caption>{}</caption><thead><tr>", Escape(caption));
  for (const Column& column : columns) {
    fmt::format_to(out, R"(<th scope="col"{}{}>{}</th>)", column.is_number ? R"( class="number")" : "",
                   column.hint.empty() ? "" : fmt::format(R"( title="{}")", Escape(column.hint)),
                   column.title);
  }
  fmt::format_to(out, "</tr></thead><tbody>\n");
  for (const std::vector<Cell>& row : rows) {
    fmt::format_to(out, "<tr>");
    for (std::size_t k = 0; k < row.size(); ++k) {
      fmt::format_to(out, R"(<td{} data-key="{}">{}</td>)", CellClass(columns[k]), Escape(row[k].key),
                     row[k].content);
    }
    fmt::format_to(out, "</tr>\n");
  }
  fmt::format_to(out, "</tbody></table></div></div>\n");
  return fmt::to_string(text);
}

std::string HeatMap::ToHtml() const {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(
      out,
      R"(<div class="scroll" tabindex="0" role="region" aria-label="{}"><table class="heat"><caption>{}</caption>)",
      Escape(caption), Escape(caption));
  fmt::format_to(out, R"(<thead><tr><td>{}</td>)", corner);
  for (const std::string& column : columns)
    fmt::format_to(out, R"(<th scope="col"><span>{}</span></th>)", Name(column));
  fmt::format_to(out, "</tr></thead><tbody>\n");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    fmt::format_to(out, R"(<tr><th scope="row">{}</th>)", Name(rows[r]));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::size_t at = r * columns.size() + c;
      const double part = Clamped(is_signed ? std::abs(values[at]) : values[at]);
      const std::string shown = texts.empty() ? fmt::format("{:.2f}", values[at]) : texts[at];
      fmt::format_to(out, R"(<td style="--v:{:.3f}"{} data-tip="{}, {}: {}">{}</td>)", part,
                     is_signed && values[at] < 0 ? R"( class="below")"
                     : part > 0.55               ? R"( class="strong")"
                                                 : "",
                     Escape(rows[r]), Escape(columns[c]), Escape(shown), Escape(shown));
    }
    fmt::format_to(out, "</tr>\n");
  }
  fmt::format_to(out, "</tbody></table></div>\n");
  return fmt::to_string(text);
}

}  // namespace kweave::html
