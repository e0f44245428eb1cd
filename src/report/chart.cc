#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html.h"

namespace kweave::html {
namespace {

// In units of the view box. Its width is about that of a phone in CSS pixels, so that letters of 13 are as
// large there as those of the text.
constexpr double kWidth = 400, kHeight = 270;
constexpr double kLeft = 52, kRight = 12, kTop = 10, kBottom = 44;
constexpr int kMostTicks = 6;  // more run into each other at this width

double Scaled(const Axis& axis, double value) {
  const auto f = [&axis](double x) { return axis.is_log ? std::log10(x) : x; };
  const double extent = f(axis.high) - f(axis.low);
  return extent > 0 ? (f(value) - f(axis.low)) / extent : 0.5;
}

// 1, 2 or 5 times a power of ten apart; on logarithmic axes powers of ten.
std::vector<double> TickValues(const Axis& axis) {
  std::vector<double> ticks;
  if (axis.is_log) {
    const int begin = static_cast<int>(std::ceil(std::log10(axis.low) - 1e-9));
    const int end = static_cast<int>(std::floor(std::log10(axis.high) + 1e-9));
    const int step = std::max(1, (end - begin) / kMostTicks + 1);
    for (int k = begin; k <= end; k += step) ticks.push_back(std::pow(10.0, k));
    return ticks;
  }
  const double raw = (axis.high - axis.low) / kMostTicks;
  if (!(raw > 0) || !std::isfinite(raw)) return {axis.low};
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= raw) step = factor * power;
  }
  const double first = std::ceil(axis.low / step - 1e-9);
  for (int k = 0; k <= 2 * kMostTicks && (first + k) * step <= axis.high + 1e-9 * step; ++k) {
    const double value = (first + k) * step;
    ticks.push_back(std::abs(value) < 1e-9 * step ? 0 : value);
  }
  return ticks;
}

}  // namespace

Axis AxisOver(std::string title, std::span<const double> values, bool is_log) {
  Axis axis{std::move(title), 0, 1, is_log};
  bool is_first = true;
  for (const double value : values) {
    if (!std::isfinite(value) || (is_log && value <= 0)) continue;
    axis.low = is_first ? value : std::min(axis.low, value);
    axis.high = is_first ? value : std::max(axis.high, value);
    is_first = false;
  }
  if (is_first) return axis.low = is_log ? 0.1 : 0, axis;
  constexpr double kRoom = 0.04;  // of the width, so that no dot sits on the frame
  if (is_log) {
    const double room = std::max(std::pow(axis.high / axis.low, kRoom), 1.2);
    axis.low /= room, axis.high *= room;
  } else {
    const double extent = axis.high - axis.low;
    const double room = extent > 0 ? kRoom * extent : std::max(std::abs(axis.high), 1.0) * kRoom;
    axis.low -= room, axis.high += room;
  }
  return axis;
}

Chart::Chart(std::string description, Axis x, Axis y)
    : description_(std::move(description)), x_(std::move(x)), y_(std::move(y)) {}

double Chart::X(double x) const { return kLeft + Scaled(x_, x) * (kWidth - kLeft - kRight); }
double Chart::Y(double y) const { return kHeight - kBottom - Scaled(y_, y) * (kHeight - kTop - kBottom); }

bool Chart::Holds(const ChartPoint& point) const {
  const auto holds = [](const Axis& axis, double value) {
    const double room = axis.is_log ? 0 : 1e-9 * (axis.high - axis.low);
    return value >= axis.low - room && value <= axis.high + room;
  };
  return holds(x_, point.x) && holds(y_, point.y);
}

std::string Chart::Tip(const ChartPoint& point) const {
  if (!point.tip.empty()) return Escape(point.tip);
  return Escape(fmt::format("{} {:.4g}, {} {:.4g}", x_.title, point.x, y_.title, point.y));
}

void Chart::AddLine(int series, const std::string& name, std::span<const ChartPoint> points, bool has_dots) {
  std::string path, dots;
  for (const ChartPoint& point : points) {
    if (!Holds(point)) continue;
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", X(point.x), Y(point.y));
    dots += fmt::format(R"(<circle class="{} s{}" cx="{:.1f}" cy="{:.1f}" r="3" data-tip="{}"/>)",
                        has_dots ? "dot" : "ghost", series, X(point.x), Y(point.y), Tip(point));
  }
  if (!path.empty()) body_ += fmt::format(R"(<path class="line s{}" d="{}"/>)", series, path) + dots + "\n";
  if (!name.empty()) legend_.emplace_back(fmt::format("line s{}", series), name);
}

void Chart::AddDots(int series, const std::string& name, std::span<const ChartPoint> points) {
  for (const ChartPoint& point : points) {
    if (!Holds(point)) continue;
    const double x = X(point.x), y = Y(point.y);
    body_ += series % 2 == 1
                 ? fmt::format(R"(<circle class="dot s{}" cx="{:.1f}" cy="{:.1f}" r="3" data-tip="{}"/>)",
                               series, x, y, Tip(point))
                 : fmt::format(R"(<path class="dot s{}" d="M{:.1f} {:.1f}l3.5 6h-7z" data-tip="{}"/>)",
                               series, x, y - 4, Tip(point));
  }
  body_ += "\n";
  if (!name.empty()) legend_.emplace_back(fmt::format("dot s{}", series), name);
}

void Chart::AddBand(int series, std::span<const ChartPoint> lower, std::span<const ChartPoint> upper) {
  std::string path;
  const auto add = [&](const ChartPoint& point) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", X(point.x),
                        Y(std::clamp(point.y, y_.low, y_.high)));
  };
  for (const ChartPoint& point : lower) add(point);
  for (std::size_t k = upper.size(); k-- > 0;) add(upper[k]);
  if (!path.empty()) body_ += fmt::format(R"(<path class="band s{}" d="{}z"/>)", series, path);
}

void Chart::AddBars(int series, const std::string& name, std::span<const ChartPoint> points, double width) {
  for (const ChartPoint& point : points) {
    const double begin = X(std::max(point.x - width / 2, x_.low)),
                 end = X(std::min(point.x + width / 2, x_.high));
    const double top = Y(std::clamp(point.y, y_.low, y_.high)), bottom = Y(std::clamp(0.0, y_.low, y_.high));
    body_ += fmt::format(
        R"(<rect class="area s{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" data-tip="{}"/>)",
        series, begin, std::min(top, bottom), std::max(end - begin - 0.5, 0.5), std::abs(bottom - top),
        Tip(point));
  }
  if (!name.empty()) legend_.emplace_back(fmt::format("area s{}", series), name);
}

void Chart::AddWhisker(int series, double x, double low, double high) {
  const double from = std::clamp(low, y_.low, y_.high), to = std::clamp(high, y_.low, y_.high);
  body_ +=
      fmt::format(R"(<path class="whisker s{}" d="M{:.1f} {:.1f}V{:.1f}"/>)", series, X(x), Y(from), Y(to));
}

void Chart::AddGuide(const std::string& name, double x1, double y1, double x2, double y2) {
  body_ +=
      fmt::format(R"(<path class="guide" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>)", X(x1), Y(y1), X(x2), Y(y2));
  if (!name.empty()) legend_.emplace_back("guide", name);
}

std::string Chart::Ticks() const {
  std::string text;
  for (const double tick : TickValues(x_)) {
    text += fmt::format(
        R"(<path class="grid" d="M{0:.1f} {1:.1f}V{2:.1f}"/><text x="{0:.1f}" y="{3:.1f}" text-anchor="middle">{4:.4g}</text>)",
        X(tick), kTop, kHeight - kBottom, kHeight - kBottom + 16, tick);
  }
  for (const double tick : TickValues(y_)) {
    text += fmt::format(
        R"(<path class="grid" d="M{0:.1f} {1:.1f}H{2:.1f}"/><text x="{3:.1f}" y="{4:.1f}" text-anchor="end">{5:.4g}</text>)",
        kLeft, Y(tick), kWidth - kRight, kLeft - 6, Y(tick) + 4, tick);
  }
  text += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)",
                      (kLeft + kWidth - kRight) / 2, kHeight - 8, Escape(x_.title));
  text += fmt::format(
      R"svg(<text transform="translate(13 {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)svg",
      (kTop + kHeight - kBottom) / 2, Escape(y_.title));
  return text;
}

std::string Chart::ToHtml(std::string_view title) const {
  std::string legend;
  for (const auto& [style, name] : legend_) {
    legend +=
        fmt::format(R"(<li><svg viewBox="0 0 24 12" aria-hidden="true">{}</svg>{}</li>)",
                    style.starts_with("dot") || style.starts_with("area")
                        ? fmt::format(R"(<rect class="{}" x="7" y="1" width="10" height="10" rx="{}"/>)",
                                      style, style.starts_with("dot") ? 5 : 0)
                        : fmt::format(R"(<path class="{}" d="M0 6H24"/>)", style),
                    Escape(name));
  }
  return fmt::format(
      "<figure class=\"chart\"><figcaption>{}</figcaption>{}<svg viewBox=\"0 0 {} {}\" role=\"img\" "
      "tabindex=\"0\" "
      "aria-label=\"{}\">{}\n{}</svg></figure>\n",
      Escape(title), legend.empty() ? "" : "<ul class=\"legend\">" + legend + "</ul>", kWidth, kHeight,
      Escape(description_), Ticks(), body_);
}

}  // namespace kweave::html
