#include "cel/device_selector.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cel/types.h"

namespace berth::cel {
namespace {

std::shared_ptr<const Schema> scalar(SchemaType type) {
  auto out = std::make_shared<Schema>();
  out->type = type;
  return out;
}

std::shared_ptr<const Schema> map_of(std::shared_ptr<const Schema> values) {
  auto out = std::make_shared<Schema>();
  out->type = SchemaType::kObject;
  out->additional = std::move(values);
  return out;
}

// Attributes and capacity have values of any type here; the evaluation finds out.
const TypePtr& device_type() {
  static const Schema schema = [] {
    Schema out;
    out.type = SchemaType::kObject;
    const auto any = scalar(SchemaType::kAny);
    out.properties.emplace("driver", scalar(SchemaType::kString));
    out.properties.emplace("attributes", map_of(map_of(any)));
    out.properties.emplace("capacity", map_of(map_of(any)));
    out.properties.emplace("allowMultipleAllocations", scalar(SchemaType::kBoolean));
    return out;
  }();
  static const TypePtr type = type_of_schema(schema, false);
  return type;
}

}  // namespace

Result<std::shared_ptr<const Program>> compile_device_selector(std::string_view expression) {
  if (expression.size() > kLongestDeviceSelector)
    return fail("has " + std::to_string(expression.size()) + " bytes, expected at most " +
                std::to_string(kLongestDeviceSelector));
  std::vector<Problem> problems;
  const Variable variables[] = {{"device", device_type()}};
  std::shared_ptr<const Program> program = compile(expression, variables, problems);
  if (!program) {
    std::string why;
    for (const auto& problem : problems)
      why.append(why.empty() ? "" : "; ").append(describe_position(expression, problem.at) + ": " + problem.message);
    return fail(why);
  }
  if (program->result->kind != Kind::kBool && program->result->kind != Kind::kDyn) return fail("must evaluate to bool");
  return program;
}

}  // namespace berth::cel
