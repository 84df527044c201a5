// Owners of OpenSSL's objects, and its errors. For .cpp files only: it includes OpenSSL.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::openssl {

template <auto Function>
struct Free {
  template <typename T>
  void operator()(T* p) const {
    Function(p);
  }
};
template <typename T, auto Function>
using Owner = std::unique_ptr<T, Free<Function>>;

using Bio = Owner<BIO, BIO_free>;
using Certificate = Owner<X509, X509_free>;
using Key = Owner<EVP_PKEY, EVP_PKEY_free>;

// Reads `text`, which must outlive it.
inline Bio bio_of(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

// Whether the two halves of a key belong together. What signs with a damaged private half signs for nobody.
inline bool is_pair(EVP_PKEY* key) {
  const Owner<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  return context && EVP_PKEY_pairwise_check(context.get()) == 1;
}

// "WHAT: the oldest error of this thread"; clears the thread's errors.
inline tl::unexpected<Error> failed(std::string_view what) {
  char text[256] = "unknown error";
  if (const unsigned long code = ERR_get_error()) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return fail(std::string(what) + ": " + text);
}

}  // namespace berth::openssl
