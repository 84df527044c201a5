// Any bytes as a CEL rule on an object with fields of all types: a compiled rule ends within its budget, and returns
// the same result when it runs again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/yaml.h"
#include "cel/program.h"
#include "embedded/apiserver/schema/structural.h"

namespace {

using namespace berth::apiserver;
namespace cel = berth::cel;

constexpr std::string_view kSchema = R"(
type: object
properties:
  n: {type: integer}
  f: {type: number}
  s: {type: string, maxLength: 20}
  b: {type: boolean}
  t: {type: string, format: date-time}
  l: {type: array, maxItems: 9, items: {type: integer}}
  o: {type: object, properties: {p: {type: string}, q: {type: integer}}}
  m: {type: object, additionalProperties: {type: string}}
  io: {x-kubernetes-int-or-string: true}
)";
constexpr std::string_view kObject =
    R"({"n": 3, "f": 2.5, "s": "text", "b": true, "t": "2026-11-21T09:30:00Z", "l": [1, 2, 3], "o": {"p": "a"}, "m": {"k": "v"}, "io": 5})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SchemaPtr kCompiled = [] {
    berth::api::FieldErrors errors;
    return compile_schema(berth::parse_yaml(kSchema)->front(), "schema", errors);
  }();
  static const berth::Json kValue = *berth::parse_json(kObject);
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  std::vector<cel::Problem> problems;
  const cel::TypePtr type = cel::type_of_schema(*kCompiled, true);
  const auto program = cel::compile(source, type, type, problems);
  if (!program) {
    if (problems.empty() || cel::display(source, problems).empty()) std::abort();
    return 0;
  }
  const cel::Value self = cel::from_json(kValue, kCompiled.get());
  cel::Budget budget, again;
  const cel::Value result = cel::run(*program, self, &self, budget);
  const cel::Value repeated = cel::run(*program, self, &self, again);
  if (result.index() != repeated.index() || budget.left != again.left) std::abort();
  return 0;
}
