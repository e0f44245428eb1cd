// A small chart as SVG: axes with ticks, lines, areas and points. Colours come from the page's style sheet;
// every series also has a dash or a shape of its own.
#ifndef KWEAVE_REPORT_CHART_H_
#define KWEAVE_REPORT_CHART_H_

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kweave::html {

struct Axis {
  std::string title;  ///< plain text
  double low = 0;
  double high = 1;
  bool is_log = false;
};

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::string tip = {};  ///< plain text that hovering shows; empty: the numbers
};

/// Points outside of the axes are left out.
class Chart {
 public:
  /// `description`, plain text, is what assistive programs read in the place of the picture.
  Chart(std::string description, Axis x, Axis y);

  /// Series are numbered from 1 and have the colours of these numbers; `name` goes to the legend, unless
  /// empty.
  void AddLine(int series, const std::string& name, std::span<const ChartPoint> points, bool has_dots = true);
  void AddDots(int series, const std::string& name, std::span<const ChartPoint> points);
  /// Between two lines over the same x.
  void AddBand(int series, std::span<const ChartPoint> lower, std::span<const ChartPoint> upper);
  void AddBars(int series, const std::string& name, std::span<const ChartPoint> points, double width);
  /// From low to high at x: an interval.
  void AddWhisker(int series, double x, double low, double high);
  /// A line without values of its own, such as what is asked for.
  void AddGuide(const std::string& name, double x1, double y1, double x2, double y2);

  std::string ToHtml(std::string_view title) const;

 private:
  double X(double x) const;
  double Y(double y) const;
  bool Holds(const ChartPoint& point) const;
  std::string Tip(const ChartPoint& point) const;
  std::string Ticks() const;

  std::string description_;
  Axis x_, y_;
  std::string body_;
  std::vector<std::pair<std::string, std::string>> legend_;  // class and name
};

/// An axis from the least to the largest value, with a little room on both sides.
Axis AxisOver(std::string title, std::span<const double> values, bool is_log = false);

}  // namespace kweave::html

#endif  // KWEAVE_REPORT_CHART_H_
