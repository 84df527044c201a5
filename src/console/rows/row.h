// A row of a collection: what the console's page shows of one object.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace berth::console {

struct Row {
  std::string key;   // "namespace/name", or "name" of a cluster-scoped object; unique in its collection
  std::string ns;    // the namespace whose rights say who may see the row; "" for cluster-scoped objects
  std::string json;  // the row as one JSON object, without line breaks
};

// Makes the row of an object; nullopt when the object has no name. Objects may be written by anybody: a field of a
// wrong type counts as absent.
using MakeRow = std::optional<Row> (*)(const Json& object);

}  // namespace berth::console
