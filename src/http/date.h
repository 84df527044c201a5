// The Date header of answers.
#pragma once

#include <string>

namespace berth::http {

std::string http_date();  // now: "Sun, 06 Nov 1994 08:49:37 GMT"

}  // namespace berth::http
