// What a selection found, as JSON, as a table and for people.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kweave/error.h"
#include "kweave/select.h"
#include "model/json.h"

namespace kweave {
namespace {

Json PointJson(const ScoredPoint& point) {
  Json values = Json::object();
  for (const auto& [name, value] : point.values) values[name] = Json::parse(value);
  Json json = {{"values", values}, {"score", point.score}};
  if (point.error) json["standard_error"] = *point.error;
  json["fold_scores"] = point.fold_scores;
  json["kernels_active"] = point.kernels_active;
  json["seconds"] = point.seconds;
  return json;
}

std::optional<double> OptionalNumber(const Json& json, const char* name) {
  return json.contains(name) ? std::optional(json.at(name).get<double>()) : std::nullopt;
}

ScoredPoint PointFrom(const Json& json) {
  ScoredPoint point;
  for (const auto& [name, value] : json.at("values").items()) point.values.emplace_back(name, value.dump());
  point.score = json.at("score").get<double>();
  point.error = OptionalNumber(json, "standard_error");
  point.fold_scores = json.at("fold_scores").get<std::vector<double>>();
  point.kernels_active = json.at("kernels_active").get<double>();
  point.seconds = json.at("seconds").get<double>();
  return point;
}

std::string ErrorText(const std::optional<double>& error) {
  return error ? fmt::format(" +- {:.4f}", *error) : "";
}

// "C 10, norm 2".
std::string ValuesText(const PointValues& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    std::string plain = value;
    std::erase(plain, '"');
    text += fmt::format("{}`{}` {}", text.empty() ? "" : ", ", name, plain);
  }
  return text.empty() ? "the only point" : text;
}

Selection FromParsed(const Json& json) {
  Selection found;
  found.done = json.at("done").get<Index>();
  found.total = json.at("total").get<Index>();
  found.score = json.at("score").get<std::string>();
  found.is_loss = json.at("smaller_is_better").get<bool>();
  found.samples = json.at("samples").get<Index>();
  found.folds = json.at("folds").get<Index>();
  found.split = json.at("split").get<std::string>();
  found.rule = json.at("rule").get<std::string>();
  found.seconds = json.at("seconds").get<double>();
  for (const Json& point : json.at("points")) found.points.push_back(PointFrom(point));
  const auto points = static_cast<Index>(found.points.size());
  for (const auto& [name, place] : {std::pair("best", &found.best), std::pair("chosen", &found.chosen)}) {
    if (!json.contains(name)) continue;
    *place = json.at(name).get<Index>();
    if (**place < 0 || **place >= points) throw Error(ErrorKind::kData, "the point chosen does not exist");
  }
  for (const Json& kernel : json.at("stability")) {
    found.stability.push_back({kernel.at("kernel").get<std::string>(),
                               kernel.at("shares").get<std::vector<double>>(),
                               kernel.at("mean").get<double>(), kernel.at("deviation").get<double>(),
                               kernel.at("active").get<double>()});
  }
  for (const Json& baseline : json.at("baselines")) {
    found.baselines.push_back({baseline.at("name").get<std::string>(),
                               baseline.at("sentence").get<std::string>(), PointFrom(baseline)});
  }
  if (json.contains("nested")) {
    const Json& nested = json.at("nested");
    found.nested = {nested.at("score").get<double>(), OptionalNumber(nested, "standard_error"),
                    nested.at("fold_scores").get<std::vector<double>>(),
                    nested.at("chosen").get<std::vector<Index>>()};
  }
  if (json.contains("permutation")) {
    const Json& permutation = json.at("permutation");
    found.permutation = {permutation.at("observed").get<double>(),
                         permutation.at("scores").get<std::vector<double>>(),
                         permutation.at("p_value").get<double>()};
  }
  return found;
}

}  // namespace

std::string Selection::ToJson() const {
  Json json = {{"status", ToString(status)},
               {"done", done},
               {"total", total},
               {"score", score},
               {"smaller_is_better", is_loss},
               {"samples", samples},
               {"folds", folds},
               {"split", split},
               {"rule", rule},
               {"seconds", seconds},
               {"points", Json::array()}};
  for (const ScoredPoint& point : points) json["points"].push_back(PointJson(point));
  if (best) json["best"] = *best;
  if (chosen) json["chosen"] = *chosen;
  json["baselines"] = Json::array();
  for (const Baseline& baseline : baselines) {
    Json one = {{"name", baseline.name}, {"sentence", baseline.sentence}};
    one.update(PointJson(baseline.best));
    json["baselines"].push_back(one);
  }
  json["stability"] = Json::array();
  for (const KernelStability& kernel : stability) {
    json["stability"].push_back({{"kernel", kernel.name},
                                 {"mean", kernel.mean},
                                 {"deviation", kernel.deviation},
                                 {"active", kernel.active},
                                 {"shares", kernel.shares}});
  }
  if (nested) {
    json["nested"] = {{"score", nested->score}};
    if (nested->error) json["nested"]["standard_error"] = *nested->error;
    json["nested"]["fold_scores"] = nested->fold_scores;
    json["nested"]["chosen"] = nested->chosen;
  }
  if (permutation) {
    json["permutation"] = {{"observed", permutation->observed},
                           {"p_value", permutation->p_value},
                           {"scores", permutation->scores}};
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Selection Selection::FromJson(const std::string& text) {
  try {
    return FromParsed(Json::parse(text));
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kData, fmt::format("not a selection: {}", error.what()));
  }
}

std::string Selection::ToTable() const {
  std::string text;
  if (points.empty()) return text;
  for (const auto& [name, value] : points[0].values) text += name + "\t";
  text += fmt::format("{}\tstandard_error\tkernels_active\tseconds", score);
  for (std::size_t f = 0; f < points[0].fold_scores.size(); ++f) text += fmt::format("\tfold_{}", f + 1);
  for (const ScoredPoint& point : points) {
    text += "\n";
    for (const auto& [name, value] : point.values) text += value + "\t";
    text += fmt::format("{}\t{}\t{}\t{:.4g}", point.score, point.error ? fmt::format("{}", *point.error) : "",
                        point.kernels_active, point.seconds);
    for (const double value : point.fold_scores) text += fmt::format("\t{}", value);
  }
  return text + "\n";
}

std::string Selection::ToText() const {
  std::string text = fmt::format("{} points, {} folds ({}), {} samples; mean {}{}\n\n", points.size(), folds,
                                 split, samples, score, is_loss ? ", the smaller the better" : "");
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return is_loss ? points[a].score < points[b].score : points[a].score > points[b].score;
  });
  constexpr std::size_t kShown = 10;  // the table of all is in a file
  for (std::size_t k = 0; k < std::min(order.size(), kShown); ++k) {
    const ScoredPoint& point = points[order[k]];
    text +=
        fmt::format("{:>10.4f}{:<11}  {}\n", point.score, ErrorText(point.error), ValuesText(point.values));
  }
  if (order.size() > kShown) text += fmt::format("            and {} more\n", order.size() - kShown);
  if (chosen) {
    const ScoredPoint& point = points[static_cast<std::size_t>(*chosen)];
    text += fmt::format("\nchosen ({}): {}, {} {:.4f}{}\n", rule, ValuesText(point.values), score,
                        point.score, ErrorText(point.error));
  }
  for (const Baseline& baseline : baselines) {
    text += fmt::format("{:>10.4f}{:<11}  {}{}\n", baseline.best.score, ErrorText(baseline.best.error),
                        baseline.sentence,
                        baseline.best.values.empty() ? "" : ", " + ValuesText(baseline.best.values));
  }
  if (nested) {
    text += fmt::format("nested: {} {:.4f}{} on {} folds that no choice has seen\n", score, nested->score,
                        ErrorText(nested->error), nested->fold_scores.size());
  }
  if (permutation) {
    text += fmt::format("permutation test: p = {:.4g} of {} permutations\n", permutation->p_value,
                        permutation->scores.size());
  }
  return text;
}

}  // namespace kweave
