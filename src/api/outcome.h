// What the code of an answer to a write says about its outcome.
#pragma once

namespace berth::api {

// The write may have taken effect, or may yet: there was no answer (0), or the server could not confirm it in time
// (504).
inline bool outcome_unknown(int code) { return code == 0 || code == 504; }

}  // namespace berth::api
