#include "kweave/report.h"

#include <gmock/gmock.h>

#include "report/chart.h"
#include "report/curves.h"
#include "report/html.h"
#include "report/page.h"

namespace kweave::html {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kHostile = "\"><script>alert('x')</script>&";

TEST(Escape, LeavesNothingThatOpensAnElementOrAnAttribute) {
  EXPECT_EQ(Escape("<script>alert('x')</script>&\""),
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;");
  EXPECT_EQ(Escape("a\n\x01z"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
}

TEST(Escape, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(Escape("gr\xC3\xBCn \xE2\x82\xAC"), "gr\xC3\xBCn \xE2\x82\xAC");
  EXPECT_EQ(Escape("\xFF\xC3"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(Escape("\xC0\xBC"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // '<' in two bytes
  EXPECT_EQ(Escape("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
}

TEST(Pieces, EscapeEveryNameTheyAreGiven) {
  Chart chart(kHostile, {kHostile}, {kHostile});
  const std::vector<ChartPoint> points = {{0.5, 0.5, kHostile}, {0.6, 0.7, kHostile}};
  chart.AddLine(1, kHostile, points);
  chart.AddDots(2, kHostile, points);
  chart.AddBars(3, kHostile, points, 0.1);
  Table table{.caption = kHostile, .columns = {{"a"}}, .rows = {{NameCell(kHostile)}}};
  table.columns[0].hint = kHostile;
  HeatMap map;
  map.caption = kHostile;
  map.rows = map.columns = {kHostile};
  map.values = {0.5};
  map.texts = {kHostile};
  Page page{.title = kHostile, .about = "", .answer = {}, .sections = {{"a", kHostile, ""}}, .footer = ""};
  for (const std::string& text : {chart.ToHtml(kHostile), table.ToHtml(), map.ToHtml(), page.ToHtml()}) {
    EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(text, Not(HasSubstr("\"><script")));
    EXPECT_THAT(text, HasSubstr("&lt;script&gt;alert"));
  }
}

TEST(Chart, LeavesOutWhatIsNoNumberOrOutside) {
  Chart chart("", {"x", 0, 1}, {"y", 1e-3, 1, true});
  const std::vector<ChartPoint> points = {{0.5, 0.1}, {2, 0.1}, {0.5, 0}, {std::nan(""), 0.1}};
  chart.AddDots(1, "", points);
  const std::string text = chart.ToHtml("");
  EXPECT_EQ(text.find("<circle"), text.rfind("<circle"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("inf")));
}

TEST(Curves, EndInTheCornersAndStepAtEveryValue) {
  const Curves curves = FindCurves({true, false, true, false}, std::vector<double>{4, 3, 3, 1});
  ASSERT_EQ(curves.roc.size(), 4u);  // the start, and three distinct values
  EXPECT_EQ(curves.roc[1].x, 0);
  EXPECT_EQ(curves.roc[1].y, 0.5);
  EXPECT_EQ(curves.roc[2].x, 0.5);
  EXPECT_EQ(curves.roc[2].y, 1);
  EXPECT_EQ(curves.roc[3].x, 1);
  EXPECT_DOUBLE_EQ(curves.precision_recall[1].y, 2.0 / 3);
  EXPECT_TRUE(FindCurves({true, true}, std::vector<double>{1, 2}).roc.empty());
}

TEST(CalibrationBins, HoldEverySampleOnce) {
  std::vector<bool> is_positive;
  std::vector<double> probability;
  for (int i = 0; i < 95; ++i) {
    probability.push_back(i % 20 == 0 ? 0.25 : 0.01 * i);
    is_positive.push_back(i % 3 == 0);
  }
  std::size_t count = 0;
  double last = -1, positive = 0;
  for (const CalibrationBin& bin : CalibrationBins(is_positive, probability)) {
    EXPECT_GT(bin.mean_probability, last);
    EXPECT_LE(bin.lower, bin.share);
    EXPECT_GE(bin.upper, bin.share);
    last = bin.mean_probability;
    count += bin.count;
    positive += bin.share * static_cast<double>(bin.count);
  }
  EXPECT_EQ(count, 95u);
  EXPECT_NEAR(positive, 32, 1e-9);
}

}  // namespace
}  // namespace kweave::html
