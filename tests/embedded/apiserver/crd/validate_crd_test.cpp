// Validation of CustomResourceDefinitions, one mistake at a time.
#include <gmock/gmock.h>

#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/schema/support.h"

namespace berth::apiserver::validate_crd_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kWidgets = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.ex.example.com}
spec:
  group: ex.example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {n: {type: integer}, o: {type: object}}}}}}
)";

// Sets the member at a path like a JSON pointer; "-" removes it.
void set(Json& value, std::string_view pointer, const Json& to) {
  Json* at = &value;
  while (true) {
    const std::size_t slash = pointer.find('/');
    const std::string key(pointer.substr(0, slash));
    if (slash == std::string_view::npos) {
      if (to.is_string() && to.get_string() == "-") {
        at->get_object().erase(key);
      } else {
        at->get_object()[key] = to;
      }
      return;
    }
    pointer.remove_prefix(slash + 1);
    at = at->is_array() ? &at->get_array()[std::stoul(key)] : &at->get_object()[key];
    if (at->is_null()) *at = JsonObject();
  }
}

Json stored(std::string_view pointer = "", std::string_view to = "") {
  Json crd = schema_support::yaml(kWidgets);
  if (!pointer.empty()) set(crd, pointer, schema_support::yaml(to));
  EXPECT_TRUE(crd_resource()->strategy.decode(crd).has_value());
  crd_resource()->strategy.prepare_create(crd, Lookup{});
  return crd;
}

struct Case {
  std::string_view name, pointer, to, error;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.pointer << " " << c.to; }
};

class ValidateCrd : public ::testing::TestWithParam<Case> {};

TEST_P(ValidateCrd, NamesTheMistake) {
  const auto& [name, pointer, to, error] = GetParam();
  EXPECT_THAT(schema_support::texts(crd_resource()->strategy.validate(stored(pointer, to), Lookup{})),
              ElementsAre(std::string(error)));
}

INSTANTIATE_TEST_SUITE_P(
    All, ValidateCrd,
    ::testing::Values(
        Case{"Name", "metadata/name", "other.ex.example.com",
             "metadata.name: Invalid value: \"other.ex.example.com\": must be "
             "spec.names.plural+\".\"+spec.group"},
        Case{"Scope", "spec/scope", "World",
             "spec.scope: Unsupported value: \"World\": supported values: \"Cluster\", \"Namespaced\""},
        Case{"NoKind", "spec/names", "{plural: widgets, singular: widget, listKind: WidgetList}",
             "spec.names.kind: Required value"},
        Case{"ListKind", "spec/names/listKind", "Widget",
             "spec.names.listKind: Invalid value: \"Widget\": kind and listKind may not be the same"},
        Case{"NoSchema", "spec/versions/0/schema", "\"-\"", "spec.versions[0].schema.openAPIV3Schema: Required value"},
        Case{"Conversion", "spec/conversion", "{strategy: Magic}",
             "spec.conversion.strategy: Unsupported value: \"Magic\": supported values: \"None\", "
             "\"Webhook\""},
        Case{"ConversionByNobody", "spec/conversion", "{strategy: Webhook, webhook: {conversionReviewVersions: [v1]}}",
             "spec.conversion.webhook.clientConfig: Required value: required when strategy is set to Webhook"},
        Case{"ConversionOfNothing", "spec/conversion",
             "{strategy: None, webhook: {clientConfig: {url: 'https://a'}, conversionReviewVersions: [v1]}}",
             "spec.conversion.webhook: Forbidden: should not be set when strategy is not set to Webhook"},
        Case{"ScaleElsewhere", "spec/versions/0/subresources",
             "{scale: {specReplicasPath: .status.n, statusReplicasPath: .status.n}}",
             "spec.subresources.scale.specReplicasPath: Invalid value: \".status.n\": should be a json path "
             "under .spec"},
        Case{"NoScalePath", "spec/versions/0/subresources", "{scale: {specReplicasPath: .spec.n}}",
             "spec.subresources.scale.statusReplicasPath: Required value"},
        Case{"ColumnType", "spec/versions/0/additionalPrinterColumns", "[{name: A, type: text, jsonPath: .spec.n}]",
             "spec.versions[0].additionalPrinterColumns[0].type: Invalid value: \"text\": must be one of "
             "boolean,date,integer,number,string"},
        Case{"ColumnPath", "spec/versions/0/additionalPrinterColumns", "[{name: A, type: string, jsonPath: '.a['}]",
             "spec.versions[0].additionalPrinterColumns[0].jsonPath: Invalid value: \".a[\": JSONPath "
             "\".a[\": unexpected text at position 3"},
        Case{"SelectableObject", "spec/versions/0/selectableFields", "[{jsonPath: .spec.o}]",
             "spec.versions[0].selectableFields[0].jsonPath: Invalid value: \".spec.o\": must point to a "
             "field of type string, boolean or integer"},
        Case{"SelectableUnknown", "spec/versions/0/selectableFields", "[{jsonPath: .spec.zz}]",
             "spec.versions[0].selectableFields[0].jsonPath: Invalid value: \".spec.zz\": is an invalid "
             "path: does not refer to a valid field"},
        Case{"SelectableTwice", "spec/versions/0/selectableFields", "[{jsonPath: .spec.n}, {jsonPath: .spec.n}]",
             "spec.versions[0].selectableFields[1].jsonPath: Duplicate value: \".spec.n\""},
        Case{"SchemaNotStructural", "spec/versions/0/schema/openAPIV3Schema", "{properties: {}}",
             "spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root"}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(ValidateCrdGroups, ProtectedOnesNeedApproval) {
  Json crd = stored("spec/group", "apps.k8s.io");
  crd.get_object()["metadata"].get_object()["name"] = "widgets.apps.k8s.io";
  EXPECT_THAT(schema_support::texts(crd_resource()->strategy.validate(crd, Lookup{})),
              ElementsAre(::testing::StartsWith(
                  "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have")));
}

TEST(ValidateCrdVersions, HaveOneStorageVersionAndDifferentNames) {
  Json crd = stored();
  JsonArray& versions = crd.get_object()["spec"].get_object()["versions"].get_array();
  Json second = versions[0];
  versions.push_back(second);
  EXPECT_THAT(schema_support::texts(crd_resource()->strategy.validate(crd, Lookup{})),
              ElementsAre(::testing::EndsWith("must contain unique version names"),
                          ::testing::EndsWith("must have exactly one version marked as storage version")));
  second.get_object()["name"] = "v2";
  crd.get_object()["spec"].get_object()["versions"].get_array()[1] = second;
  EXPECT_THAT(schema_support::texts(crd_resource()->strategy.validate(crd, Lookup{})),
              ElementsAre(::testing::EndsWith("must have exactly one version marked as storage version"),
                          "status.storedVersions: Invalid value: [\"v1\"]: must have the storage version v2"));
}

TEST(ValidateCrdVersions, OfDifferentSchemasAreNamedInErrors) {
  Json crd = stored();
  JsonArray& versions = crd.get_object()["spec"].get_object()["versions"].get_array();
  Json second = versions[0];
  second.get_object()["name"] = "v2";
  second.get_object()["storage"] = false;
  ensure_path(second, {"schema", "openAPIV3Schema"}) = schema_support::yaml("{type: string}");
  versions.push_back(second);
  EXPECT_THAT(schema_support::texts(crd_resource()->strategy.validate(crd, Lookup{})),
              ElementsAre("spec.versions[1].schema.openAPIV3Schema.type: Invalid value: \"string\": must be "
                          "object at the root"));
}

TEST(ValidateCrdUpdate, KeepsWhatNamesObjects) {
  Json old = stored(), now = stored("spec/names/kind", "Gadget");
  EXPECT_THAT(crd_resource()->strategy.validate_update(now, old, ""), IsEmpty()) << "not established yet";
  old.get_object()["status"] = established_status(old, Time{});
  EXPECT_THAT(schema_support::texts(crd_resource()->strategy.validate_update(now, old, "")),
              ElementsAre("spec.names.kind: Invalid value: \"Gadget\": field is immutable"));
  EXPECT_THAT(
      schema_support::texts(crd_resource()->strategy.validate_update(stored("spec/group", "a.example.com"), old, "")),
      ElementsAre("spec.group: Invalid value: \"a.example.com\": field is immutable"));
}

constexpr std::string_view kWebhook = R"(
strategy: Webhook
webhook:
  clientConfig: {service: {name: a, namespace: b, path: /convert}, caBundle: YQ==}
  conversionReviewVersions: [v1]
)";

TEST(ValidateCrdConversion, MayNameAWebhookWhereNobodyNeedsToBeAsked) {
  Json crd = stored("spec/conversion", kWebhook);
  EXPECT_EQ(int_at(crd, {"spec", "conversion", "webhook", "clientConfig", "service", "port"}), 443);
  EXPECT_THAT(crd_resource()->strategy.validate(crd, Lookup{}), IsEmpty()) << "one version";
  JsonArray& versions = crd.get_object()["spec"].get_object()["versions"].get_array();
  Json second = versions[0];
  second.get_object()["name"] = "v2";
  second.get_object()["storage"] = false;
  versions.push_back(second);
  EXPECT_THAT(schema_support::texts(crd_resource()->strategy.validate(crd, Lookup{})),
              ElementsAre("spec.conversion.strategy: Unsupported value: \"Webhook\": supported values: \"None\""));
  set(crd, "metadata/name", "widgets.kueue.x-k8s.io");
  set(crd, "metadata/annotations", schema_support::yaml("{api-approved.kubernetes.io: 'https://example.com'}"));
  set(crd, "spec/group", "kueue.x-k8s.io");
  EXPECT_THAT(crd_resource()->strategy.validate(crd, Lookup{}), IsEmpty()) << "converted in process";
}

TEST(DecodeCrd, RefusesABundleThatIsNoBase64) {
  Json crd = schema_support::yaml(kWidgets);
  set(crd, "spec/conversion", schema_support::yaml("{strategy: Webhook, webhook: {clientConfig: {caBundle: '*'}}}"));
  auto decoded = crd_resource()->strategy.decode(crd);
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().message, "spec.conversion.webhook.clientConfig.caBundle: illegal base64 data");
}

TEST(DecodeCrd, FillsNamesAndConversionAndDropsUnknownKeywords) {
  Json crd = stored("spec/versions/0/schema/openAPIV3Schema",
                    "{type: object, x-note: gone, properties: {a: {type: string, zz: 1}}}");
  EXPECT_EQ(string_at(crd, {"spec", "names", "singular"}), "widget");
  EXPECT_EQ(string_at(crd, {"spec", "names", "listKind"}), "WidgetList");
  EXPECT_EQ(string_at(crd, {"spec", "conversion", "strategy"}), "None");
  EXPECT_EQ(to_string(*find_path(array_at(crd, {"spec", "versions"})[0], {"schema", "openAPIV3Schema"})),
            R"({"type":"object","properties":{"a":{"type":"string"}}})");
}

}  // namespace
}  // namespace berth::apiserver::validate_crd_test
