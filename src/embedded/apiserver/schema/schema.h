// The schema of a kind, as the server's code names it; cel/schema.h has the type, because expressions are typed by it.
#pragma once

#include "cel/schema.h"

namespace berth::apiserver {

using cel::Codec;
using cel::ListType;
using cel::Rule;
using cel::Schema;
using cel::SchemaPtr;
using cel::SchemaType;
using cel::Zero;

}  // namespace berth::apiserver
