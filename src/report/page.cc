#include "report/page.h"

#include <fmt/format.h>

#include "report/assets.h"
#include "report/html.h"

namespace kweave::html {
namespace {

// Content security policies write hashes in base 64.
std::string Base64FromHex(std::string_view hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto value = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  std::string text;
  unsigned bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = (bits << 4 | value(c)) & 0xFFF;
    count += 4;
    if (count < 6) continue;
    count -= 6;
    text += kDigits[bits >> count & 63U];
  }
  if (count > 0) text += kDigits[bits << (6 - count) & 63U];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

}  // namespace

std::string Page::ToHtml() const {
  std::string links, body;
  for (const Section& section : sections) {
    links += fmt::format("<li><a href=\"#{}\">{}</a></li>", section.id, Escape(section.title));
    body += fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-title\"><h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
        section.id, Escape(section.title), section.content);
  }
  std::string paragraphs;
  for (const std::string& paragraph : answer) paragraphs += "<p>" + paragraph + "</p>";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src "
      "'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>{}</style></head>\n"
      "<body><a class=\"skip\" href=\"#main\">To the content</a>\n<header><h1>{}</h1><p "
      "class=\"about\">{}</p>\n"
      "<div class=\"answer\">{}</div></header>\n<nav aria-label=\"Sections\"><ul>{}</ul></nav>\n<main "
      "id=\"main\">\n{}</main>\n"
      "<footer>{}</footer>\n<script>{}</script></body></html>\n",
      Base64FromHex(kScriptSha256), Escape(title), kStyleSheet, Escape(title), about, paragraphs, links, body,
      footer, kScript);
}

}  // namespace kweave::html
