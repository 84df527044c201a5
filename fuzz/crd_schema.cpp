// A schema and objects: {"schema": ..., "object": ..., "old": ...}. For each schema that compiles, pruning and
// defaulting are idempotent, and its own OpenAPI form compiles again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "embedded/apiserver/schema/structural.h"

namespace {

using berth::Json;
using namespace berth::apiserver;

void check_round_trip(const Schema& schema) {
  const Json once = to_openapi(schema);
  berth::api::FieldErrors errors;
  const SchemaPtr again = compile_schema(once, "schema", errors);
  if (!errors.empty() || berth::canonical_json(to_openapi(*again)) != berth::canonical_json(once)) std::abort();
}

void check_object(const Json* given, const Json* old, const Schema& schema) {
  if (given == nullptr || !given->is_object()) return;
  Json object = *given;
  prune(object, schema, true, nullptr);
  Json again = object;
  prune(again, schema, true, nullptr);
  if (berth::canonical_json(again) != berth::canonical_json(object)) std::abort();
  apply_defaults(object, schema);
  again = object;
  apply_defaults(again, schema);
  if (berth::canonical_json(again) != berth::canonical_json(object)) std::abort();
  validate_schema(object, old, schema, "");
  validate_rules(object, old, schema, "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = berth::parse_json({reinterpret_cast<const char*>(data), size});
  if (!input) return 0;
  const Json* document = berth::find(*input, "schema");
  if (document == nullptr) return 0;
  berth::api::FieldErrors errors;
  const SchemaPtr schema = compile_schema(*document, "schema", errors);
  if (!errors.empty()) return 0;
  check_round_trip(*schema);
  check_object(berth::find(*input, "object"), berth::find(*input, "old"), *schema);
  return 0;
}
