#include "http/certificates.h"

#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/openssl.h"

namespace berth::http {
namespace {

using openssl::Bio;
using openssl::bio_of;
using openssl::Certificate;
using openssl::Key;
using Store = openssl::Owner<X509_STORE, X509_STORE_free>;
using Context = openssl::Owner<X509_STORE_CTX, X509_STORE_CTX_free>;
struct StackFreer {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_pop_free(stack, X509_free); }
};
using Stack = std::unique_ptr<STACK_OF(X509), StackFreer>;
using Extension = openssl::Owner<X509_EXTENSION, X509_EXTENSION_free>;

std::string bytes_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Certificate parse_certificate(std::string_view pem) {
  return Certificate(PEM_read_bio_X509(bio_of(pem).get(), nullptr, nullptr, nullptr));
}

std::string der_of(const X509* certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate, &der);
  if (size <= 0) return {};
  std::string out(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

Certificate read_der(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  return Certificate(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
}

Key parse_key(std::string_view pem) {
  return Key(PEM_read_bio_PrivateKey(bio_of(pem).get(), nullptr, nullptr, nullptr));
}

bool add_name(X509_NAME* name, const char* field, std::string_view value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_serial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] &= 0x7f;  // positive
  const openssl::Owner<BIGNUM, BN_free> number(BN_bin2bn(bytes, sizeof bytes, nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

constexpr std::size_t kMaxCommonName = 64;  // ub-common-name in RFC 5280

// The properties in which the kinds of certificates differ.
struct Wish {
  std::string common_name;
  std::vector<std::string> organizations;
  std::chrono::hours lifetime{};
  std::vector<std::pair<int, std::string>> extensions;
};

// Signed by `issuer`; self-signed when `issuer` is null.
Result<Credential> issue(const Wish& wish, const Credential* issuer, Time now) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  if (!key || !certificate) return openssl::failed("cannot make a key");
  Certificate issuer_certificate;
  Key issuer_key;
  if (issuer != nullptr) {
    issuer_certificate = parse_certificate(issuer->certificate);
    issuer_key = parse_key(issuer->key);
    if (!issuer_certificate || !issuer_key) return openssl::failed("cannot read the certificate authority");
  }
  X509* const x = certificate.get();
  X509* const signer = issuer_certificate ? issuer_certificate.get() : x;
  // One hour in the past: the clocks of clients may be behind.
  const std::time_t begin = std::chrono::system_clock::to_time_t(now) - 3600;
  const std::time_t end = std::chrono::system_clock::to_time_t(now + wish.lifetime);
  X509_NAME* subject = X509_get_subject_name(x);
  bool fine = X509_set_version(x, 2) == 1 && set_serial(x) && ASN1_TIME_set(X509_getm_notBefore(x), begin) != nullptr &&
              ASN1_TIME_set(X509_getm_notAfter(x), end) != nullptr && X509_set_pubkey(x, key.get()) == 1;
  for (const std::string& o : wish.organizations) fine = fine && add_name(subject, "O", o);
  fine = fine && add_name(subject, "CN", wish.common_name);
  fine = fine && X509_set_issuer_name(x, X509_get_subject_name(signer)) == 1;
  fine = fine && add_extension(x, signer, NID_subject_key_identifier, "hash");
  fine = fine && add_extension(x, signer, NID_authority_key_identifier, "keyid:always");
  for (const auto& [nid, value] : wish.extensions) fine = fine && add_extension(x, signer, nid, value);
  fine = fine && X509_sign(x, issuer_key ? issuer_key.get() : key.get(), EVP_sha256()) > 0;
  const Bio certificate_text(BIO_new(BIO_s_mem())), key_text(BIO_new(BIO_s_mem()));
  fine = fine && PEM_write_bio_X509(certificate_text.get(), x) == 1;
  fine = fine && PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
  if (!fine) return openssl::failed("cannot make a certificate for " + wish.common_name);
  return Credential{bytes_of(certificate_text.get()), bytes_of(key_text.get())};
}

bool is_address(std::string_view name) {
  return name.find(':') != std::string_view::npos || name.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

Result<Credential> make_authority(std::string_view name, Time now, std::chrono::hours lifetime) {
  return issue({std::string(name),
                {},
                lifetime,
                {{NID_basic_constraints, "critical,CA:TRUE"}, {NID_key_usage, "critical,keyCertSign,cRLSign"}}},
               nullptr, now);
}

Result<Credential> make_server_credential(const Credential& authority, const std::vector<std::string>& names, Time now,
                                          std::chrono::hours lifetime) {
  std::string alternatives;
  for (const std::string& n : names)
    alternatives += (alternatives.empty() ? "" : ",") + std::string(is_address(n) ? "IP:" : "DNS:") + n;
  if (names.empty()) return fail("a server's certificate needs a name");
  // A common name has at most 64 characters. It is informational only: clients check the alternative names.
  const std::string& shortest = *std::min_element(
      names.begin(), names.end(), [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  return issue({shortest.substr(0, kMaxCommonName),
                {},
                lifetime,
                {{NID_basic_constraints, "critical,CA:FALSE"},
                 {NID_key_usage, "critical,digitalSignature"},
                 {NID_ext_key_usage, "serverAuth"},
                 {NID_subject_alt_name, alternatives}}},
               &authority, now);
}

Result<Credential> make_client_credential(const Credential& authority, std::string_view user,
                                          const std::vector<std::string>& groups, Time now,
                                          std::chrono::hours lifetime) {
  return issue({std::string(user),
                groups,
                lifetime,
                {{NID_basic_constraints, "critical,CA:FALSE"},
                 {NID_key_usage, "critical,digitalSignature"},
                 {NID_ext_key_usage, "clientAuth"}}},
               &authority, now);
}

bool usable(const Credential& c, const Credential& authority, const std::vector<std::string>& names, Time now,
            std::chrono::hours remaining) {
  const Certificate certificate = parse_certificate(c.certificate), issuer = parse_certificate(authority.certificate);
  const Key key = parse_key(c.key);
  const bool complete = certificate && issuer && key && openssl::is_pair(key.get());
  ERR_clear_error();
  if (!complete) return false;
  std::time_t begin = std::chrono::system_clock::to_time_t(now), end = begin + std::chrono::seconds(remaining).count();
  if (X509_cmp_time(X509_get0_notBefore(certificate.get()), &begin) > 0) return false;
  if (X509_cmp_time(X509_get0_notAfter(certificate.get()), &end) < 0) return false;
  if (X509_check_private_key(certificate.get(), key.get()) != 1) return false;
  if (X509_verify(certificate.get(), X509_get0_pubkey(issuer.get())) != 1) return false;
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return is_address(name) ? X509_check_ip_asc(certificate.get(), name.c_str(), 0) == 1
                            : X509_check_host(certificate.get(), name.c_str(), name.size(), 0, nullptr) == 1;
  });
}

Result<std::string> make_key() {
  const Key key(EVP_EC_gen("P-256"));
  const Bio text(BIO_new(BIO_s_mem()));
  if (!key || PEM_write_bio_PKCS8PrivateKey(text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return openssl::failed("cannot make a key");
  return bytes_of(text.get());
}

bool signed_by(const CertificateSubject& holder, std::string_view authorities, Time now) {
  const Store store(X509_STORE_new());
  const Stack between(sk_X509_new_null());
  const Context context(X509_STORE_CTX_new());
  const Bio text = bio_of(authorities);
  while (const Certificate authority{PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)})
    X509_STORE_add_cert(store.get(), authority.get());
  Certificate leaf;
  for (const std::string& der : holder.chain) {
    Certificate certificate = read_der(der);
    if (!certificate) break;
    if (!leaf) {
      leaf = std::move(certificate);
    } else {
      sk_X509_push(between.get(), certificate.release());
    }
  }
  bool good = leaf && X509_STORE_CTX_init(context.get(), store.get(), leaf.get(), between.get()) == 1;
  if (good) {
    X509_VERIFY_PARAM* const wanted = X509_STORE_CTX_get0_param(context.get());
    X509_VERIFY_PARAM_set_time(wanted, std::chrono::system_clock::to_time_t(now));
    X509_VERIFY_PARAM_set_purpose(wanted, X509_PURPOSE_SSL_CLIENT);
    good = X509_verify_cert(context.get()) == 1;
  }
  ERR_clear_error();
  return good;
}

CertificateSubject read_subject(const x509_st* certificate) {
  CertificateSubject subject;
  subject.chain.push_back(der_of(certificate));
  const X509_NAME* name = X509_get_subject_name(certificate);
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry));
    if (size < 0) continue;
    std::string value(reinterpret_cast<char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
    const int field = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (field == NID_commonName)
      subject.common_name = std::move(value);
    else if (field == NID_organizationName)
      subject.organizations.push_back(std::move(value));
  }
  return subject;
}

}  // namespace berth::http
