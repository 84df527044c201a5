// The schema of ObjectMeta, which every kind has.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/
#include "embedded/apiserver/schema/internal.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

using Node = std::shared_ptr<Schema>;

Node node(SchemaType type, std::string_view description, std::string_view format = {}) {
  auto schema = std::make_shared<Schema>();
  schema->type = type;
  schema->description = description;
  schema->format = format;
  return schema;
}

Node text(std::string_view description) { return node(SchemaType::kString, description); }

Node list(std::string_view description, SchemaPtr items) {
  Node schema = node(SchemaType::kArray, description);
  schema->items = std::move(items);
  return schema;
}

Node text_map(std::string_view description) {
  Node schema = node(SchemaType::kObject, description);
  schema->additional = text("");
  return schema;
}

Node owner_reference() {
  Node owner =
      node(SchemaType::kObject, "An object that this object depends on, in the same namespace or cluster-scoped.");
  owner->title = "OwnerReference";
  owner->atomic_map = true;
  owner->required = {"apiVersion", "kind", "name", "uid"};
  owner->properties = {
      {"apiVersion", text("Group and version of the owner.")},
      {"kind", text("Kind of the owner.")},
      {"name", text("Name of the owner.")},
      {"uid", text("UID of the owner.")},
      {"controller", node(SchemaType::kBoolean, "Whether the owner manages this object; at most one owner does.")},
      {"blockOwnerDeletion",
       node(SchemaType::kBoolean, "Whether deleting the owner in the foreground waits for this object to go.")},
  };
  return owner;
}

Node managed_fields_entry() {
  Node fields = node(SchemaType::kObject, "The fields, as a tree of names.");
  fields->preserve_unknown = true;
  Node entry = node(SchemaType::kObject, "The fields that one manager set.");
  entry->title = "ManagedFieldsEntry";
  entry->properties = {
      {"manager", text("Who set the fields.")},
      {"operation", text("How they were set: Apply or Update.")},
      {"apiVersion", text("The version in which the fields are named.")},
      {"time", node(SchemaType::kString, "When the entry changed.", "date-time")},
      {"fieldsType", text("The form of fieldsV1; always FieldsV1.")},
      {"fieldsV1", fields},
      {"subresource", text("The subresource through which the fields were set.")},
  };
  return entry;
}

Node lists_of_meta(std::string_view which) {
  if (which == "ownerReferences") {
    Node owners = list("Objects that this one depends on; when all are gone it is deleted.", owner_reference());
    owners->list_type = ListType::kMap;
    owners->list_map_keys = {"uid"};
    owners->patch_merge_key = "uid";
    owners->patch_merge = true;
    return owners;
  }
  Node finalizers = list("What must be done before the object goes; it stays until the list is empty.", text(""));
  finalizers->list_type = ListType::kSet;
  finalizers->patch_merge = true;
  return finalizers;
}

}  // namespace

SchemaPtr meta_schema() {
  static const SchemaPtr kMeta = [] {
    Node meta = node(SchemaType::kObject, "What all objects have: name, labels, owners and marks of their life.");
    meta->title = "ObjectMeta";
    meta->properties = {
        {"name", text("Name of the object, unique among its kind in its namespace.")},
        {"generateName", text("Prefix of a name that the server completes when no name is given.")},
        {"namespace", text("Namespace of the object; empty for cluster-scoped objects.")},
        {"uid", text("Unique in time and space; set by the server.")},
        {"resourceVersion", text("Changes with every write; opaque to clients.")},
        {"generation", node(SchemaType::kInteger, "Counts changes of the desired state.", "int64")},
        {"creationTimestamp", node(SchemaType::kString, "When the object was created.", "date-time")},
        {"deletionTimestamp", node(SchemaType::kString, "When the object was asked to go.", "date-time")},
        {"deletionGracePeriodSeconds",
         node(SchemaType::kInteger, "Seconds the object has to end by itself after it was asked to go.", "int64")},
        {"labels", text_map("Keys and values to select the object by.")},
        {"annotations", text_map("Keys and values for people and tools; not for selecting.")},
        {"ownerReferences", lists_of_meta("ownerReferences")},
        {"finalizers", lists_of_meta("finalizers")},
        {"managedFields", list("Who set which fields.", managed_fields_entry())},
        {"selfLink", text("No longer used.")},
    };
    return meta;
  }();
  return kMeta;
}

}  // namespace berth::apiserver
