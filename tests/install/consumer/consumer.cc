// Trains on the exclusive or, which no linear kernel can learn, and prints how good the answer is.
#include <cstdio>
#include <utility>
#include <vector>

#include "kweave/dataset.h"
#include "kweave/train.h"
#include "kweave/version.h"

int main() {
  kweave::Dataset data;
  std::vector<double> points;
  for (int i = 0; i < 40; ++i) {
    const double x = (i % 2 == 0 ? 1 : -1) * (1 + 0.01 * i);
    const double z = (i / 2 % 2 == 0 ? 1 : -1) * (1 - 0.01 * i);
    points.insert(points.end(), {x, z});
    data.labels.number.push_back(x * z > 0 ? 1 : -1);
    data.labels.text.push_back(x * z > 0 ? "1" : "-1");
  }
  data.size = 40;
  data.views.push_back({.name = "data", .features = kweave::MakeDense(std::move(points), 40, 2)});

  kweave::TrainOptions options;
  options.kernels = {"linear", "rbf(gamma=[0.1,1])"};
  options.C = 10;
  options.gap = 1e-4;
  const kweave::Model model = kweave::Train(data, options, kweave::Context{});
  const kweave::Prediction prediction = model.Predict(data, kweave::Context{});

  int errors = 0;
  for (std::size_t i = 0; i < prediction.labels.size(); ++i)
    errors += prediction.labels[i] != data.labels.text[i];
  std::printf("kweave %s: relative gap %.1e, %d errors\n", KWEAVE_VERSION, model.summary().relative_gap,
              errors);
  return model.summary().relative_gap <= options.gap && errors == 0 ? 0 : 1;
}
