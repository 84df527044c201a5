// The Date header of responses.
#pragma once

#include <string>

namespace berth::http {

std::string http_date();  // the current time: "Sun, 06 Nov 1994 08:49:37 GMT"

}  // namespace berth::http
