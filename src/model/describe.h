#ifndef KWEAVE_MODEL_DESCRIBE_H_
#define KWEAVE_MODEL_DESCRIBE_H_

#include <string>

#include "model/content.h"
#include "model/json.h"

namespace kweave {

/// What `kweave inspect` prints.
std::string DescribeForPeople(const ModelContent& content);

/// What `kweave inspect --json` prints.
Json DescribeAsJson(const ModelContent& content);

}  // namespace kweave

#endif  // KWEAVE_MODEL_DESCRIBE_H_
