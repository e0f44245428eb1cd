#include "kernel/language.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "kernel/kernel_table.h"
#include "kweave/error.h"

namespace kweave {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

View MakeView(std::string name, std::vector<double> values, Index rows, Index cols,
              std::vector<std::string> feature_names = {}) {
  return {.name = std::move(name),
          .features = MakeDense(std::move(values), rows, cols),
          .feature_names = feature_names};
}

/// Three samples, two features; squared distances 1, 4, 5.
std::vector<View> OneView() { return {MakeView("data", {0, 0, 1, 0, 0, 2}, 3, 2)}; }

std::vector<View> TwoViews() {
  return {MakeView("a", {0, 0, 1, 0, 0, 2}, 3, 2),
          MakeView("b", {1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3, {"age", "12", "x y"})};
}

std::vector<std::string> Names(const KernelSet& kernels) {
  std::vector<std::string> names;
  for (Index m = 0; m < kernels.size(); ++m) names.push_back(kernels.Name(m));
  return names;
}

KernelSet Parse(const std::string& text, const std::vector<View>& views) {
  const std::vector<std::string> specifications = {text};
  return ParseKernels(specifications, views, 0);
}

std::vector<std::string> NamesOf(const std::string& text, const std::vector<View>& views = OneView()) {
  return Names(Parse(text, views));
}

struct GoodCase {
  const char* text;
  std::vector<std::string> names;
};

TEST(Language, OneViewSpecifications) {
  const GoodCase cases[] = {
      {"linear", {"linear"}},
      {"linear()", {"linear"}},
      {" rbf ( gamma = 0.5 ) ", {"rbf(gamma=0.5)"}},
      {"rbf(gamma=[0.1,1,10])", {"rbf(gamma=0.1)", "rbf(gamma=1)", "rbf(gamma=10)"}},
      {"rbf(gamma=logspace(1e-3,1e3,7))",
       {"rbf(gamma=0.001)", "rbf(gamma=0.01)", "rbf(gamma=0.1)", "rbf(gamma=1)", "rbf(gamma=10)",
        "rbf(gamma=100)", "rbf(gamma=1000)"}},
      {"rbf(gamma=logspace(2,8,1))", {"rbf(gamma=2)"}},
      {"rbf(gamma=linspace(1,2,3))", {"rbf(gamma=1)", "rbf(gamma=1.5)", "rbf(gamma=2)"}},
      {"rbf(gamma=[linspace(1,2,2),7])", {"rbf(gamma=1)", "rbf(gamma=2)", "rbf(gamma=7)"}},
      {"rbf(gamma=1/16)", {"rbf(gamma=0.0625)"}},
      {"poly", {"poly(degree=3,gamma=1,coef0=1)"}},
      {"poly(degree=1..3)",
       {"poly(degree=1,gamma=1,coef0=1)", "poly(degree=2,gamma=1,coef0=1)",
        "poly(degree=3,gamma=1,coef0=1)"}},
      {"poly(degree=[1,2],coef0=[0,1])",
       {"poly(degree=1,gamma=1,coef0=0)", "poly(degree=1,gamma=1,coef0=1)", "poly(degree=2,gamma=1,coef0=0)",
        "poly(degree=2,gamma=1,coef0=1)"}},
      {"poly(gamma=auto)", {"poly(degree=3,gamma=0.5,coef0=1)"}},
      // squared distances 1, 4, 5: median 4, mean 10/3, quantile 0.25 half way from 1 to 4
      {"rbf", {"rbf(gamma=0.25)"}},
      {"rbf(gamma=median)", {"rbf(gamma=0.25)"}},
      {"rbf(gamma=mean)", {"rbf(gamma=0.3)"}},
      {"rbf(gamma=quantile(0.25))", {"rbf(gamma=0.4)"}},
      {"rbf(gamma=quantile(1))", {"rbf(gamma=0.2)"}},
      {"rbf(gamma=[median/4,median,2*median])", {"rbf(gamma=0.0625)", "rbf(gamma=0.25)", "rbf(gamma=0.5)"}},
      {"rbf(gamma=median*[1,2])", {"rbf(gamma=0.25)", "rbf(gamma=0.5)"}},
      {"rbf(gamma=auto)", {"rbf(gamma=0.5)"}},
      // l1 distances 1, 2, 3; chi-squared distances 1, 2, 3
      {"laplacian", {"laplacian(gamma=0.5)"}},
      {"laplacian(gamma=median)", {"laplacian(gamma=0.5)"}},
      {"chi2", {"chi2(gamma=1)"}},
      {"chi2(gamma=quantile(1))", {"chi2(gamma=0.333333)"}},
      {"intersection", {"intersection"}},
      {"tanimoto", {"tanimoto"}},
      {"precomputed(file=K.npy)", {"precomputed(file=K.npy)"}},
      {"precomputed(file=[a/b.npy,'c d.npy'])",
       {"precomputed(file=a/b.npy)", "precomputed(file=\"c d.npy\")"}},
      {"rbf(gamma=1)*linear", {"rbf(gamma=1)*linear"}},
      {"linear+rbf(gamma=[1,2])", {"linear+rbf(gamma=1)", "linear+rbf(gamma=2)"}},
      {"rbf(gamma=[1,2])*poly(degree=[1,2])",
       {"rbf(gamma=1)*poly(degree=1,gamma=1,coef0=1)", "rbf(gamma=1)*poly(degree=2,gamma=1,coef0=1)",
        "rbf(gamma=2)*poly(degree=1,gamma=1,coef0=1)", "rbf(gamma=2)*poly(degree=2,gamma=1,coef0=1)"}},
      {"mean(linear,tanimoto)", {"mean(linear,tanimoto)"}},
      {"(linear+tanimoto)*linear", {"(linear+tanimoto)*linear"}},
      {"(linear*tanimoto)*linear", {"(linear*tanimoto)*linear"}},
      {"((linear))", {"linear"}},
      {"each(linear)", {"linear@data[1]", "linear@data[2]"}},
      // per feature the squared distances are 1, 0, 1 and 0, 4, 4
      {"each(rbf)", {"rbf(gamma=1)@data[1]", "rbf(gamma=0.25)@data[2]"}},
      {"each(rbf(gamma=mean))", {"rbf(gamma=1.5)@data[1]", "rbf(gamma=0.375)@data[2]"}},
      {"each(linear*tanimoto)", {"linear@data[1]*tanimoto@data[1]", "linear@data[2]*tanimoto@data[2]"}},
      {"each(linear)*tanimoto", {"linear@data[1]*tanimoto", "linear@data[2]*tanimoto"}},
      {"each(rbf(gamma=[1,2]))@data[2]", {"rbf(gamma=1)@data[2]", "rbf(gamma=2)@data[2]"}},
      {"linear@data", {"linear"}},
      {"linear@data[1..2]", {"linear@data[1..2]"}},
      {"linear(name=mine)", {"mine"}},
      {"rbf(gamma=[1,2], name=\"my kernel\")", {"my kernel.1", "my kernel.2"}},
      {"(linear*tanimoto, name=both)", {"both"}},
      {"mean(linear,tanimoto,name=both)@data", {"both"}},
      {"each(linear,name=gene)", {"gene.1", "gene.2"}},
      {"rbf(gamma=[1,1,1])", {"rbf(gamma=1)", "rbf(gamma=1)#2", "rbf(gamma=1)#3"}},
  };
  for (const GoodCase& c : cases) EXPECT_EQ(NamesOf(c.text), c.names) << c.text;
}

TEST(Language, SeveralViews) {
  const GoodCase cases[] = {
      {"linear", {"linear@a", "linear@b"}},
      {"linear@b", {"linear@b"}},
      {"linear@b[1,3]", {"linear@b[1,3]"}},
      {"linear@b[age,\"x y\"]", {"linear@b[1,3]"}},
      {"linear@b[\"12\"]", {"linear@b[2]"}},
      {"linear@a*linear", {"linear@a*linear@a", "linear@a*linear@b"}},
      {"(linear*tanimoto)@b", {"linear@b*tanimoto@b"}},
      {"(linear@a*tanimoto)@b", {"linear@a*tanimoto@b"}},
      {"each(linear)", {"linear@a[1]", "linear@a[2]", "linear@b[1]", "linear@b[2]", "linear@b[3]"}},
      {"precomputed(file=K)", {"precomputed(file=K)"}},
      {"precomputed(file=K)*linear", {"precomputed(file=K)*linear@a", "precomputed(file=K)*linear@b"}},
  };
  for (const GoodCase& c : cases) EXPECT_EQ(NamesOf(c.text, TwoViews()), c.names) << c.text;
}

struct BadCase {
  const char* text;
  int character;  ///< 1-based, where the message points
  const char* fragment;
};

TEST(Language, BadSpecificationsSayWhereAndWhy) {
  const BadCase cases[] = {
      {"", 1, "empty"},
      {"   ", 1, "empty"},
      {"rfb", 1, "did you mean \"rbf\"?"},
      {"gauss", 1, "expected one of each, mean, linear"},
      {"Linear", 1, "did you mean \"linear\"?"},
      {"rbf(gama=1)", 5, "did you mean \"gamma\"?"},
      {"linear(gamma=1)", 8, "linear has no parameter \"gamma\""},
      {"rbf(degree=2)", 5, "no parameter \"degree\""},
      {"rbf(gamma=)", 11, "expected a number, a list or a rule such as median, not ')'"},
      {"rbf(gamma=1", 12, "but the specification ends"},
      {"rbf(gamma=1))", 13, "expected '*', '+', '@' or the end, not ')'"},
      {"rbf(gamma=0)", 11, "gamma must be finite and > 0, not 0"},
      {"rbf(gamma=-1)", 11, "not -1"},
      {"rbf(gamma=1/0)", 11, "not inf"},
      {"rbf(gamma=1e999)", 11, "too large or too small"},
      {"rbf(gamma=nan)", 11, "\"nan\" is no value"},
      {"rbf(gamma=-inf)", 11, "expected a number"},
      {"rbf(gamma=0x10)", 11, "expected a number"},
      {"rbf(gamma=1,gamma=2)", 13, "given twice"},
      {"rbf(gamma=[])", 12, "expected a number"},
      {"rbf(gamma=[1,2)", 15, "expected ']'"},
      {"rbf(gamma=medium)", 11, "did you mean \"median\"?"},
      {"rbf(gamma=median*mean)", 17, "only a number"},
      {"rbf(gamma=1/median)", 12, "cannot be divided by"},
      {"rbf(gamma=quantile(2))", 20, "between 0 and 1"},
      {"rbf(gamma=quantile)", 19, "expected '('"},
      {"rbf(gamma=logspace(1,2))", 23, "expected ',' and how many values"},
      {"rbf(gamma=logspace(0,1,3))", 11, "end values > 0"},
      {"rbf(gamma=linspace(1,2,0))", 11, "at least 1, not 0"},
      {"rbf(gamma=linspace(1,2,1e9))", 11, "more than the 100000000 allowed"},
      {"rbf(gamma=1..1e12)", 11, "more than the 100000000 allowed"},
      {"rbf(gamma=3..1)", 11, "runs backwards"},
      {"rbf(gamma=0.5..2)", 11, "whole numbers"},
      {"rbf(gamma=1..9999)*rbf(gamma=1..9999)", 0, "more than 100000000 in all"},
      {"poly(degree=0)", 13, "degree must be a whole number from 1 to 100, not 0"},
      {"poly(degree=2.5)", 13, "not 2.5"},
      {"poly(degree=101)", 13, "not 101"},
      {"poly(degree=median)", 13, "only gamma can follow from the data"},
      {"poly(coef0=-1)", 12, "coef0 must be finite and >= 0, not -1"},
      {"precomputed", 1, "needs file="},
      {"precomputed(file=)", 18, "expected a file"},
      {"precomputed(file='')", 18, "empty"},
      {"precomputed(file='K.npy)", 18, "never closed"},
      {"precomputed(file=K)@data", 21, "nothing to work on"},
      {"each(precomputed(file=K))", 6, "no features"},
      {"each(each(rbf))", 1, "another each"},
      {"each rbf", 6, "expected '(' and a kernel after \"each\""},
      {"mean(rbf)", 1, "at least two kernels"},
      {"mean(rbf,)", 10, "expected a kernel"},
      {"rbf*", 5, "expected a kernel"},
      {"rbf linear", 5, "expected '*', '+', '@'"},
      {"+rbf", 1, "expected a kernel"},
      {"linear@", 8, "expected the name of a view"},
      {"linear@dada", 8, "did you mean \"data\"?"},
      {"linear@other", 8, "there is no view \"other\"; expected one of data"},
      {"linear@data[0]", 13, "run from 1 to 2, \"0\" is outside"},
      {"linear@data[3]", 13, "run from 1 to 2"},
      {"linear@data[2..1]", 13, "outside"},
      {"linear@data[1..99999999999999999999]", 13, "outside"},
      {"linear@data[1,1]", 13, "feature 1 is given twice"},
      {"linear@data[age]", 13, "have no names"},
      {"linear@data[]", 13, "expected a feature"},
      {"linear@data@data", 13, "nothing to work on"},
      {"linear(name=)", 13, "expected a name"},
      {"linear(name=rbf)", 13, "is a kind of kernel"},
      {"linear(name='a*b')", 13, "a name must not"},
      {"linear(name=a)*tanimoto", 13, "names a part of a kernel"},
      {"(linear(name=a),name=b)", 22, "one name= only"},
      {"(linear, 3)", 10, "expected name="},
  };
  for (const BadCase& c : cases) {
    try {
      Parse(c.text, OneView());
      ADD_FAILURE() << c.text << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << c.text;
      EXPECT_THAT(error.what(), HasSubstr(c.fragment)) << c.text;
      EXPECT_THAT(error.what(), HasSubstr("kernel \"" + std::string(c.text) + "\""));
      if (c.character > 0) {
        EXPECT_THAT(error.what(), HasSubstr("character " + std::to_string(c.character) + ":")) << c.text;
      }
    }
  }
}

TEST(Language, DeepNestingIsAnErrorNotACrash) {
  EXPECT_THROW(Parse(std::string(1'000'000, '('), OneView()), Error);
  EXPECT_THROW(Parse("rbf(gamma=" + std::string(1'000'000, '['), OneView()), Error);
  EXPECT_EQ(NamesOf(std::string(50, '(') + "linear" + std::string(50, ')')).size(), 1u);
}

TEST(Language, EachNeedsOneSetOfFeatures) {
  EXPECT_THROW(Parse("each(linear@a*linear@b)", TwoViews()), Error);
  EXPECT_THROW(ParseKernels({}, OneView(), 0), Error);
  EXPECT_THROW(Parse("linear", {}), Error);
  EXPECT_EQ(NamesOf("precomputed(file=K)", {}).size(), 1u);
}

TEST(Language, KernelsThatShareFeaturesShareAFamily) {
  const std::vector<std::string> specifications = {"rbf(gamma=1)",       "linear",
                                                   "rbf(gamma=[2,3])",   "rbf@data[1]",
                                                   "each(rbf(gamma=1))", "precomputed(file=[a,b,a])"};
  const KernelSet kernels = ParseKernels(specifications, OneView(), 0);
  ASSERT_EQ(kernels.families.size(), 6u);
  EXPECT_EQ(kernels.families[0].members.size(), 3u);
  EXPECT_EQ(kernels.families[2].members.size(), 2u);
  EXPECT_EQ(kernels.families[4].members.size(), 2u);
  EXPECT_EQ(kernels.subsets.size(), 3u);
  EXPECT_THAT(kernels.files, ElementsAre(Field(&MatrixSource::name, "a"), Field(&MatrixSource::name, "b")));
  EXPECT_EQ(kernels.Name(9), "precomputed(file=a)#2");
}

TEST(Language, NegativeFeaturesAreNamed) {
  const std::vector<View> views = {MakeView("hist", {1, 2, 3, 4, 5, -0.5}, 2, 3)};
  for (const char* text : {"chi2", "intersection", "each(chi2)", "chi2@hist[2..3]*linear"}) {
    try {
      Parse(text, views);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kData);
      EXPECT_THAT(error.what(), HasSubstr("view \"hist\", sample 2, feature 3: -0.5 is negative"));
    }
  }
  EXPECT_EQ(Parse("chi2@hist[1,2]", views).size(), 1);
}

TEST(Language, SamplesAreNamedByWhereTheyWere) {
  const std::vector<View> views = {MakeView("hist", {1, 2, 3, 4, 5, -0.5}, 2, 3)};
  const std::vector<std::string> specifications = {"chi2"};
  try {
    ParseKernels(specifications, views, 0, {.first = 0, .positions = {9, 7}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("sample 7, feature 2: -0.5 is negative"));
  }
}

TEST(Language, ShortNamesOfMeasuredWidthsStayUnique) {
  const std::vector<View> views = {MakeView("data", {0, 0.7, 1.9}, 3, 1)};
  const KernelSet kernels = Parse("rbf(gamma=[median,0.694444,median])", views);
  EXPECT_DOUBLE_EQ(kernels.Term(0).parameters[0], 1 / 1.44);
  EXPECT_THAT(Names(kernels), ElementsAre("rbf(gamma=0.694444)", "rbf(gamma=0.694444)#2",
                                          testing::StartsWith("rbf(gamma=0.69444444")));
}

TEST(Language, SelectKeepsNamesAndDropsTheRest) {
  const std::vector<std::string> specifications = {"each(rbf(gamma=[1,2]))", "linear*tanimoto@b[2]",
                                                   "precomputed(file=[p,q])", "linear(name=x)", "linear"};
  const KernelSet kernels = ParseKernels(specifications, TwoViews(), 0);
  const std::vector<Index> kept = {3, 4, 11, 13, 15, 16, 17};
  const KernelSet selected = kernels.Select(kept);
  ASSERT_EQ(selected.size(), static_cast<Index>(kept.size()));
  for (std::size_t k = 0; k < kept.size(); ++k) {
    EXPECT_EQ(selected.Name(k), kernels.Name(kept[k]));
  }
  EXPECT_THAT(selected.files, ElementsAre(Field(&MatrixSource::name, "q")));
  EXPECT_EQ(selected.views, kernels.views);
  EXPECT_EQ(selected.subsets[0], FeatureSubset{});
  EXPECT_EQ(selected.subsets.size(), 3u);
  EXPECT_EQ(selected.families.size(), 5u);
}

TEST(Language, SelectDropsViewsWithoutKernels) {
  const std::vector<std::string> specifications = {"rbf(gamma=1)", "linear*precomputed(file=p)",
                                                   "precomputed(file=q)"};
  const KernelSet kernels = ParseKernels(specifications, TwoViews(), 0);
  const std::vector<Index> second = {1, 3, 4}, matrix = {4}, first = {0};
  const KernelSet selected = kernels.Select(second);
  EXPECT_THAT(selected.views, ElementsAre(kernels.views[1]));
  EXPECT_THAT(Names(selected), ElementsAre(kernels.Name(1), kernels.Name(3), kernels.Name(4)));
  EXPECT_TRUE(kernels.Select(matrix).views.empty());
  EXPECT_EQ(selected.Select(first).Name(0), kernels.Name(1));
}

TEST(Language, AMillionKernelsAtOnce) {
  std::vector<double> values(120);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 7);
  const std::vector<View> views = {MakeView("data", values, 2, 60)};
  const Stopwatch watch;
  const KernelSet kernels = Parse("each(rbf(gamma=logspace(1e-3,1e3,16667)))", views);
  RecordProperty("seconds", std::to_string(watch.Seconds()));
  EXPECT_EQ(kernels.size(), 60 * 16667);
  EXPECT_EQ(kernels.families.size(), 60u);
  EXPECT_TRUE(kernels.given_names.empty());
  EXPECT_EQ(kernels.Name(16667), "rbf(gamma=0.001)@data[2]");
}

std::vector<View> SequencesAndNumbers() {
  return {{"seq", MakeSequences(std::vector<std::string>{"ACGTACGT", "ACGTTTTT"}, "dna"), {}},
          {"num", MakeDense({1, 2, 3, 4}, 2, 2), {}}};
}

std::vector<std::string> NamesOnSequences(const std::string& text) {
  const std::vector<View> views = SequencesAndNumbers();
  const KernelSet kernels = Parse(text, views);
  std::vector<std::string> names;
  for (Index m = 0; m < kernels.size(); ++m) {
    names.push_back(kernels.Name(m));
    EXPECT_EQ(Parse(names.back(), views).Name(0), names.back());
  }
  return names;
}

TEST(Language, KernelsOnSequencesTakeRegionsAndWindows) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(NamesOnSequences("wd"), Names{"wd(degree=20)@seq"});
  EXPECT_EQ(NamesOnSequences("wd(order=1..2)"), (Names{"wd(order=1)@seq", "wd(order=2)@seq"}));
  EXPECT_EQ(NamesOnSequences("linear"), Names{"linear@num"});
  EXPECT_EQ(NamesOnSequences("wd(degree=3)@seq[1..4]"), Names{"wd(degree=3)@seq[1..4]"});
  EXPECT_EQ(NamesOnSequences("wd(degree=3)@seq[-3..]"), Names{"wd(degree=3)@seq[-3..]"});
  EXPECT_EQ(NamesOnSequences("wd(degree=3)@seq[..4]"), Names{"wd(degree=3)@seq[1..4]"});
  EXPECT_EQ(NamesOnSequences("wd(degree=3)@seq[at 2..3]"), Names{"wd(degree=3)@seq[at 2..3]"});
  EXPECT_EQ(NamesOnSequences("each(wd(degree=2))@seq[3..4]"),
            (Names{"wd(degree=2)@seq[at 3]", "wd(degree=2)@seq[at 4]"}));
  EXPECT_EQ(NamesOnSequences("each(wd(degree=2), window=4)"),
            (Names{"wd(degree=2)@seq[1..4]", "wd(degree=2)@seq[5..8]"}));
  EXPECT_EQ(NamesOnSequences("each(wd(degree=2), window=5, step=3)@seq"),
            (Names{"wd(degree=2)@seq[1..5]", "wd(degree=2)@seq[4..8]"}));
  EXPECT_EQ(NamesOnSequences("wd(order=2)*rbf(gamma=1)@num"), Names{"wd(order=2)@seq*rbf(gamma=1)@num"});
}

TEST(Language, SaysWhatKernelsOnSequencesCannotDo) {
  const auto sentence = [](const std::string& text) {
    try {
      Parse(text, SequencesAndNumbers());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(sentence("rbf@seq"), HasSubstr("rbf works on numbers, but view \"seq\" holds sequences"));
  EXPECT_THAT(sentence("wd@num"), HasSubstr("wd works on sequences, but view \"num\" holds numbers"));
  EXPECT_THAT(sentence("wd(degree=3,order=2)"), HasSubstr("wd takes degree or order, not both"));
  EXPECT_THAT(sentence("wd(order=0)"), HasSubstr("order must be a whole number from 1 to 255, not 0"));
  for (const char* region : {"9..12", "0..3", "4..2", "x", "1..y"}) {
    EXPECT_THAT(sentence(fmt::format("wd@seq[{}]", region)),
                HasSubstr("is no part of sequences of 8 letters"));
  }
  EXPECT_THAT(sentence("each(linear, window=2)@num"), HasSubstr("window= is for sequences"));
  EXPECT_THAT(sentence("each(wd, window=0)"), HasSubstr("window must be a whole number of at least 1"));
  const std::vector<View> unequal = {
      {"seq", MakeSequences(std::vector<std::string>{"ACGT", "ACG"}, "dna"), {}}};
  EXPECT_THROW(
      try { Parse("wd", unequal); } catch (const Error& error) {
        EXPECT_THAT(
            error.what(),
            HasSubstr("sample 2: 3 letters, but wd needs as many in all sequences, and sample 1 has 4"));
        throw;
      },
      Error);
}

/// A random specification without data-driven widths, so that names carry all digits.
rc::Gen<std::string> SpecificationText(int depth) {
  const auto positive =
      rc::gen::map(rc::gen::inRange(1, 1000000), [](int i) { return std::to_string(i) + "e-3"; });
  const auto view = rc::gen::element<std::string>("", "@a", "@b", "@b[2]", "@b[1..2]", "@b[age,\"x y\"]");
  const auto leaf = rc::gen::apply(
      [](int kind, std::string g, int degree, std::string where) -> std::string {
        const auto table = KernelTable();
        const KernelKind& k = *table[static_cast<std::size_t>(kind) % table.size()];
        if (k.IsOnSequences()) return "linear" + where;
        if (k.base->source == BaseQuantity::Source::kFile) return "precomputed(file='K " + g + "')";
        std::string text;
        for (const ParameterRule& rule : k.parameters) {
          text += text.empty() ? "(" : ",";
          text += std::string(rule.name) + "=";
          if (!rule.choices.empty()) {
            text += fmt::format("[{}]", fmt::join(rule.choices, ","));
          } else {
            text += rule.is_whole ? "1.." + std::to_string(degree) : "[" + g + "," + g + "1]";
          }
        }
        if (!text.empty()) return std::string(k.name) + text + ")" + where;
        return std::string(k.name) + where;
      },
      rc::gen::inRange(0, 100), positive, rc::gen::inRange(1, 4), view);
  if (depth == 0) return leaf;
  const auto inner = rc::gen::lazy([depth] { return SpecificationText(depth - 1); });
  return rc::gen::oneOf(
      leaf, rc::gen::apply([](std::string a, std::string b) { return a + "*(" + b + ")"; }, inner, inner),
      rc::gen::apply([](std::string a, std::string b) { return "(" + a + ")+" + b; }, inner, inner),
      rc::gen::apply([](std::string a, std::string b) { return "mean(" + a + "," + b + ")"; }, inner, inner));
}

RC_GTEST_PROP(Language, NamesParseToTheSameKernel, ()) {
  const std::vector<View> views = TwoViews();
  const KernelSet kernels = Parse(*SpecificationText(2), views);
  std::set<std::string> names;
  for (Index m = 0; m < kernels.size(); ++m) {
    const std::string name = kernels.Name(m);
    RC_ASSERT(names.insert(name).second);
    if (kernels.given_names.contains(m)) continue;
    const KernelSet again = Parse(name, views);
    RC_ASSERT(again.size() == 1);
    RC_ASSERT(again.Name(0) == name);
    RC_ASSERT(again.IsComposite(0) == kernels.IsComposite(m));
    if (kernels.IsComposite(m)) continue;
    RC_ASSERT(again.Term(0).kind == kernels.Term(m).kind);
    RC_ASSERT(again.Term(0).parameters == kernels.Term(m).parameters);
    RC_ASSERT(again.Term(0).view == kernels.Term(m).view);
    RC_ASSERT(again.subsets[again.Term(0).subset] == kernels.subsets[kernels.Term(m).subset]);
  }
}

}  // namespace
}  // namespace kweave
