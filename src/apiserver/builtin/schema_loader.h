// Schemas of the built-in kinds from their notation, the *.yaml files beside this one:
//
//   <Type>:
//     _: description of the type
//     _title: its name in messages, when that is not <Type>
//     _atomic: "true"                     # owned and merged as a whole
//     <field>: <type>[?|!] <flag>... -- description
//
// Types: string int32 int64 bool quantity time microTime bytes intOrString any, a Type; followed by [] (list)
// or {} (map with these values). Presence: `?` an optional value that is kept also when zero (types are that
// anyway), `!` a value that every object has, neither: left out when zero. Flags: `required`; `=<json or
// text>` the default; `map(<key>)` a list whose members are told apart and merged by that key;
// `keys(<a>,<b>)` only told apart, `merge(<key>)` only merged; `set`, `mergeset` (a set that a strategic
// patch merges); `atomic` of maps; `retainKeys`. Sources:
// https://kubernetes.io/docs/reference/kubernetes-api/ (1.36).
#pragma once

#include <string_view>

#include "apiserver/schema/schema.h"

namespace berth::apiserver {

// The schema of a type of the notation. Types are known at build time: an unknown one breaks an invariant.
SchemaPtr builtin_schema(std::string_view type);
// The same with apiVersion, kind and metadata: a whole object.
SchemaPtr builtin_kind_schema(std::string_view type);

}  // namespace berth::apiserver
