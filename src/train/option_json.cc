#include "train/option_json.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "kweave/error.h"
#include "kweave/train.h"

namespace kweave {
namespace {

constexpr const char* kInfinity = "inf";  // which JSON has no number for

Json NumberToJson(double number) { return std::isinf(number) ? Json(kInfinity) : Json(number); }

double NumberFromJson(const Json& json) {
  if (json.is_string() && json.get<std::string>() == kInfinity)
    return std::numeric_limits<double>::infinity();
  return json.get<double>();
}

Json ValueToJson(const OptionValue& value) {
  const auto write = []<class T>(const T& held) -> Json {
    if constexpr (std::is_same_v<T, double>) {
      return NumberToJson(held);
    } else if constexpr (std::is_same_v<T, NamedNumbers>) {
      Json json = Json::object();
      for (const auto& [name, number] : held) json[name] = NumberToJson(number);
      return json;
    } else if constexpr (std::is_same_v<T, NamedIntervals>) {
      Json json = Json::object();
      for (const auto& [name, ends] : held) {
        json[name] = {NumberToJson(ends.first), NumberToJson(ends.second)};
      }
      return json;
    } else {
      return held;
    }
  };
  return std::visit(write, value);
}

// `like` says what the value is.
OptionValue ValueFromJson(const Json& json, const OptionValue& like) {
  const auto read = [&json]<class T>(const T&) -> OptionValue {
    if constexpr (std::is_same_v<T, double>) {
      return NumberFromJson(json);
    } else if constexpr (std::is_same_v<T, NamedNumbers>) {
      NamedNumbers numbers;
      for (const auto& [name, number] : json.items()) numbers.emplace_back(name, NumberFromJson(number));
      return numbers;
    } else if constexpr (std::is_same_v<T, NamedIntervals>) {
      NamedIntervals intervals;
      for (const auto& [name, ends] : json.items()) {
        intervals.emplace_back(name, std::pair(NumberFromJson(ends.at(0)), NumberFromJson(ends.at(1))));
      }
      return intervals;
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return WholeNumber<T>(json);
    } else {
      return json.get<T>();
    }
  };
  return std::visit(read, like);
}

// As many as there are samples, so they belong to the data.
bool IsOfSamples(const OptionValue& value) { return std::holds_alternative<std::vector<double>>(value); }

TrainOptions FromJson(const Json& json) {
  TrainOptions options;
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords()) {
    const std::string name(record.name);
    const OptionValue like = record.fallback;
    if (!json.contains(name) || IsOfSamples(like)) continue;
    try {
      record.set(options, ValueFromJson(json.at(name), like));
    } catch (const Json::exception&) {
      throw Error(ErrorKind::kData, {name, json.at(name).dump(), record.AllowedText()});
    } catch (const Error& error) {
      throw Error(ErrorKind::kData, error.what(), {error.field(), error.value(), error.rule()});
    }
  }
  return options;
}

}  // namespace

Json OptionsJson(const TrainOptions& options) {
  Json json = Json::object();
  for (const OptionRecord<TrainOptions>& record : TrainOptionRecords()) {
    const OptionValue value = record.get(options);
    if (!IsOfSamples(value)) json[std::string(record.name)] = ValueToJson(value);
  }
  return json;
}

std::string OptionsToJson(const TrainOptions& options) {
  return OptionsJson(options).dump(-1, ' ', false, Json::error_handler_t::replace);
}

TrainOptions OptionsFromJson(std::string_view json) {
  try {
    return FromJson(Json::parse(json));
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kData, fmt::format("the options are no JSON object: {}", error.what()));
  }
}

TrainOptions GivenOptions(const Summary& summary) {
  Json json = Json::object();
  for (const auto& [name, literal] : summary.options) json[name] = Json::parse(literal);
  if (json.contains("given")) {
    json.update(json.at("given"));
  } else {
    // Models of older versions hold only what ran, which need not be a choice.
    for (const char* name : {"method", "driver", "solver"}) json.erase(name);
  }
  return FromJson(json);
}

}  // namespace kweave
