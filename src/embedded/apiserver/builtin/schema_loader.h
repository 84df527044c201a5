// Loads the schemas of the built-in kinds from their notation, the *.yaml files in this folder:
//
//   <Type>:
//     _: description of the type
//     _title: its name in messages, when that is not <Type>
//     _atomic: "true"                     # owned and merged as a whole
//     <field>: <type>[?|!] <flag>... -- description
//
// Types: string int32 int64 bool quantity time microTime bytes intOrString any, or a Type; followed by [] (list) or
// {} (map with these values). Presence: `?` an optional value that is kept also when zero (values of a Type always
// are), `!` a value that every object has, neither: omitted when zero. Flags: `required`; `=<json or text>` the
// default; `map(<key>)` a list whose items are identified and merged by that key; `keys(<a>,<b>)` items are only
// identified by the keys, `merge(<key>)` only merged by the key; `set`, `mergeset` (a set that a strategic merge
// patch merges); `atomic` for maps; `retainKeys`. Source:
// https://kubernetes.io/docs/reference/kubernetes-api/ (1.36).
#pragma once

#include <string_view>

#include "embedded/apiserver/schema/schema.h"

namespace berth::apiserver {

// The schema of a Type of the notation. Types are known at build time: an unknown name is a broken invariant.
SchemaPtr builtin_schema(std::string_view type);
// The schema of a whole object of the type: with apiVersion, kind and metadata.
SchemaPtr builtin_kind_schema(std::string_view type);

}  // namespace berth::apiserver
