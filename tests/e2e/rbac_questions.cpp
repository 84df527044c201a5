#include "e2e/rbac_questions.h"

#include <initializer_list>
#include <string_view>

#include "base/random.h"

namespace berth::e2e {
namespace {

using Texts = std::vector<std::string>;

struct Resource {
  std::string group, version, name;
  bool namespaced = true;
  Texts subresources;
};

const std::vector<Resource>& resources() {
  static const std::vector<Resource> all = {
      {"", "v1", "configmaps", true, {}},
      {"", "v1", "pods", true, {"status", "eviction", "binding", "log"}},
      {"", "v1", "secrets", true, {}},
      {"", "v1", "serviceaccounts", true, {"token"}},
      {"", "v1", "namespaces", false, {"status", "finalize"}},
      {"", "v1", "nodes", false, {"status"}},
      {"apps", "v1", "deployments", true, {"status", "scale"}},
      {"batch", "v1", "jobs", true, {"status"}},
      {"coordination.k8s.io", "v1", "leases", true, {}},
      {"rbac.authorization.k8s.io", "v1", "roles", true, {}},
      {"example.com", "v1", "nothings", true, {"status"}},
  };
  return all;
}

// Only system:masters write roles in Berth (docs/compatibility.md).
bool is_only_read(const Resource& resource) { return resource.group == "rbac.authorization.k8s.io"; }

const Texts kNamespaces = {"a", "b"};
const Texts kNames = {"present", "absent", "other"};
const Texts kVerbs = {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*"};
const Texts kReads = {"get", "list", "watch"};
const Texts kUrls = {"*",        "/metrics",   "/debug/*", "/custom*",  "/openapi/*", "/apis*",
                     "/healthz", "/version**", "/logs",    "/version/", "/livez/ping"};
const Texts kPaths = {"/healthz",  "/healthz/", "/healthz/ping", "/livez",        "/livez/ping", "/readyz",
                      "/version",  "/version/", "/metrics",      "/api",          "/api/",       "/apis",
                      "/apis/",    "/api/v1",   "/apis/apps",    "/apis/apps/v1", "/openapi/v3", "/debug",
                      "/debug/no", "/custom",   "/customs/a/b",  "/nothing",      "/logsandmore"};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t n) { return next_random(state_) % n; }
  bool once_in(std::size_t n) { return below(n) == 0; }
  template <typename T>
  const T& of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  Texts some(const Texts& all, std::size_t most) {
    Texts out;
    for (std::size_t n = 1 + below(most); n > 0; --n) out.push_back(of(all));
    return out;
  }

 private:
  std::uint64_t state_;
};

Json array_of(const Texts& texts) { return JsonArray(texts.begin(), texts.end()); }

Json named(std::string_view api_version, std::string_view kind, std::string_view name) {
  return JsonObject{{"apiVersion", api_version}, {"kind", kind}, {"metadata", JsonObject{{"name", name}}}};
}

// --- Roles.

std::string resource_in_rule(Draw& draw) {
  const Resource& resource = draw.of(resources());
  if (draw.once_in(12)) return "*";
  if (resource.subresources.empty() || draw.once_in(2)) return resource.name;
  return (draw.once_in(4) ? "*" : resource.name) + "/" + draw.of(resource.subresources);
}

Json resource_rule(Draw& draw) {
  Texts groups, names;
  for (const Resource& resource : resources()) {
    if (draw.once_in(2)) groups.push_back(resource.group);
  }
  if (draw.once_in(3) || groups.empty()) groups = {"*"};
  Texts wanted;
  for (std::size_t n = 1 + draw.below(3); n > 0; --n) wanted.push_back(resource_in_rule(draw));
  JsonObject rule{{"apiGroups", array_of(groups)}, {"resources", array_of(wanted)}};
  rule["verbs"] = array_of(draw.some(kVerbs, 4));
  if (draw.once_in(2)) names = draw.some(kNames, 2);
  if (draw.once_in(9)) names.emplace_back(draw.once_in(2) ? "" : "*");
  if (draw.once_in(6)) names.push_back(draw.of(kNamespaces));
  if (!names.empty()) rule["resourceNames"] = array_of(names);
  return rule;
}

Json url_rule(Draw& draw) {
  static const Texts verbs = {"get", "head", "post", "put", "delete", "options", "*"};
  return JsonObject{{"nonResourceURLs", array_of(draw.some(kUrls, 2))}, {"verbs", array_of(draw.some(verbs, 2))}};
}

Json impersonation_rule(Draw& draw) {
  static const Texts who = {"users", "groups", "serviceaccounts", "uids", "userextras/scopes", "userextras/*", "*"};
  JsonObject rule{{"apiGroups", array_of({"", "authentication.k8s.io"})}, {"verbs", array_of({"impersonate"})}};
  rule["resources"] = array_of(draw.some(who, 3));
  if (draw.once_in(3)) rule["resourceNames"] = array_of({"bob", "team", "robot", "read", "system:anonymous"});
  return rule;
}

Json subject(Draw& draw, const RbacUser& user, const std::string& ns) {
  const std::string_view account = "system:serviceaccount:a:";
  if (user.name.starts_with(account) && (ns == "a" || draw.once_in(2))) {
    JsonObject out{{"kind", "ServiceAccount"}, {"name", user.name.substr(account.size())}};
    if (ns.empty() || draw.once_in(2)) out["namespace"] = "a";
    return out;
  }
  const bool group = user.name.empty() || (!user.groups.empty() && draw.once_in(3));
  return JsonObject{
      {"apiGroup", "rbac.authorization.k8s.io"},
      {"kind", group ? "Group" : "User"},
      {"name", group ? (user.groups.empty() ? "system:unauthenticated" : draw.of(user.groups)) : user.name}};
}

void grant(RbacTable& table, Draw& draw, const RbacUser& user, const std::string& name) {
  const std::string root = "/apis/rbac.authorization.k8s.io/v1/";
  const std::string ns = draw.once_in(2) ? draw.of(kNamespaces) : "";
  const bool cluster_role = ns.empty() || draw.once_in(2);
  JsonArray rules;
  for (std::size_t n = 1 + draw.below(3); n > 0; --n) rules.push_back(resource_rule(draw));
  if (cluster_role && draw.once_in(2)) rules.push_back(url_rule(draw));
  if (cluster_role && draw.once_in(2)) rules.push_back(impersonation_rule(draw));
  const std::string place = ns.empty() ? "" : "namespaces/" + ns + "/";
  const std::string kind = cluster_role ? "ClusterRole" : "Role";
  Json role = named("rbac.authorization.k8s.io/v1", kind, name);
  role.as_object()["rules"] = std::move(rules);
  table.objects.push_back({root + (cluster_role ? "clusterroles" : place + "roles"), std::move(role)});
  Json binding = named("rbac.authorization.k8s.io/v1", ns.empty() ? "ClusterRoleBinding" : "RoleBinding", name);
  binding.as_object()["subjects"] = JsonArray{subject(draw, user, ns)};
  binding.as_object()["roleRef"] =
      JsonObject{{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", kind}, {"name", name}};
  table.objects.push_back({root + place + (ns.empty() ? "clusterrolebindings" : "rolebindings"), std::move(binding)});
}

// --- Requests.

std::string path_of(Draw& draw, const Resource& resource) {
  std::string path = resource.group.empty() ? "/api/" : "/apis/" + resource.group + "/";
  path += resource.version;
  if (resource.namespaced && !draw.once_in(4)) path += "/namespaces/" + draw.of(kNamespaces);
  path += "/" + resource.name;
  if (draw.once_in(3)) return path;
  path += "/" + (resource.name == "namespaces" ? draw.of(kNamespaces) : draw.of(kNames));
  if (resource.subresources.empty() || draw.once_in(2)) return path;
  path += "/" + draw.of(resource.subresources);
  return draw.once_in(6) ? path + "/more" : path;
}

// Every part keeps the request from changing or streaming anything.
std::string query_of(Draw& draw, const std::string& method) {
  static const Texts selectors = {"metadata.name%3Dpresent",  "metadata.name%3D%3Dabsent",
                                  "metadata.name!%3Dpresent", "metadata.namespace%3Da,metadata.name%3Dother",
                                  "metadata.name%3D",         "metadata.name%3Da%2Fb",
                                  "spec.nothing%3Da"};
  std::string query = method == "GET" || method == "HEAD" ? "?limit=1" : "?dryRun=All&fieldManager=test";
  if (method == "GET" && draw.once_in(4)) query = "?watch=1&resourceVersion=none";
  if (draw.once_in(2)) query += "&fieldSelector=" + draw.of(selectors);
  return query;
}

RbacQuestion about_object(Draw& draw) {
  static const Texts methods = {"GET",   "GET",   "GET",   "HEAD",   "POST",   "POST",   "PUT",
                                "PATCH", "PATCH", "PATCH", "DELETE", "DELETE", "OPTIONS"};
  static const Texts patches = {"application/apply-patch+yaml", "application/merge-patch+json"};
  RbacQuestion out;
  const Resource& resource = draw.of(resources());
  out.method = is_only_read(resource) ? "GET" : draw.of(methods);
  out.target = path_of(draw, resource) + query_of(draw, out.method);
  const bool patch = out.method == "PATCH";
  if (patch || out.method == "POST" || out.method == "PUT") {
    out.headers = {{"Content-Type", patch ? draw.of(patches) : "application/json"}};
    out.body = R"({"metadata":{"name":")" + draw.of(kNames) + R"("}})";
  }
  return out;
}

// Applies an object of which nothing but its name is needed.
RbacQuestion applying(Draw& draw) {
  const bool lease = draw.once_in(2);
  const std::string name = draw.of(kNames);
  RbacQuestion out;
  out.method = "PATCH";
  out.target = std::string(lease ? "/apis/coordination.k8s.io/v1" : "/api/v1") + "/namespaces/" + draw.of(kNamespaces) +
               (lease ? "/leases/" : "/configmaps/") + name + "?dryRun=All&fieldManager=test";
  out.headers = {{"Content-Type", "application/apply-patch+yaml"}};
  out.body = to_string(lease ? named("coordination.k8s.io/v1", "Lease", name) : named("v1", "ConfigMap", name));
  return out;
}

RbacQuestion about_path(Draw& draw) {
  static const Texts methods = {"GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  RbacQuestion out;
  out.method = draw.of(methods);
  out.target = draw.of(kPaths);
  return out;
}

Json some_attributes(Draw& draw) {
  const Resource& resource = draw.of(resources());
  if (draw.once_in(4))
    return JsonObject{{"nonResourceAttributes",
                       JsonObject{{"path", draw.of(kPaths)}, {"verb", draw.of(Texts{"get", "head", "post", "*"})}}}};
  const std::string& verb = draw.of(is_only_read(resource) ? kReads : kVerbs);
  JsonObject attributes{{"group", resource.group}, {"resource", resource.name}, {"verb", verb}};
  if (draw.once_in(2)) attributes["namespace"] = draw.of(kNamespaces);
  if (draw.once_in(2)) attributes["name"] = draw.of(kNames);
  if (!resource.subresources.empty() && draw.once_in(2)) attributes["subresource"] = draw.of(resource.subresources);
  return JsonObject{{"resourceAttributes", std::move(attributes)}};
}

// Asked by the user itself, or by an administrator about the user.
RbacQuestion review(Draw& draw, const RbacUser* about) {
  RbacQuestion out;
  out.method = "POST";
  Json spec = some_attributes(draw);
  if (about != nullptr) {
    if (!about->name.empty()) spec.as_object()["user"] = about->name;
    spec.as_object()["groups"] = array_of(about->groups);
  }
  const std::string kind = about == nullptr ? "SelfSubjectAccessReview" : "SubjectAccessReview";
  out.target = "/apis/authorization.k8s.io/v1/" +
               std::string(about == nullptr ? "selfsubjectaccessreviews" : "subjectaccessreviews");
  out.headers = {{"Content-Type", "application/json"}};
  out.body =
      to_string(Json(JsonObject{{"apiVersion", "authorization.k8s.io/v1"}, {"kind", kind}, {"spec", std::move(spec)}}));
  return out;
}

// Who the user is when it acts as another one.
RbacQuestion acting(Draw& draw) {
  static const Texts users = {"bob", "system:anonymous", "system:serviceaccount:a:robot",
                              "system:serviceaccount:b:robot", "system:serviceaccount:a"};
  static const Texts groups = {"team", "system:authenticated", "system:unauthenticated", "system:masters"};
  RbacQuestion out;
  out.method = "POST";
  out.target = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  out.body = R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})";
  out.headers = {{"Content-Type", "application/json"}, {"Impersonate-User", draw.of(users)}};
  for (std::size_t n = draw.below(3); n > 0; --n) out.headers.emplace_back("Impersonate-Group", draw.of(groups));
  if (draw.once_in(3)) out.headers.emplace_back("Impersonate-Uid", draw.once_in(2) ? "read" : "7");
  if (draw.once_in(3)) out.headers.emplace_back("Impersonate-Extra-Scopes", draw.once_in(2) ? "read" : "write");
  return out;
}

void add_objects_to_ask_about(RbacTable& table) {
  for (const auto& ns : kNamespaces) {
    table.objects.push_back({"/api/v1/namespaces", named("v1", "Namespace", ns)});
    table.objects.push_back({"/api/v1/namespaces/" + ns + "/configmaps", named("v1", "ConfigMap", "present")});
    table.objects.push_back({"/apis/coordination.k8s.io/v1/namespaces/" + ns + "/leases",
                             named("coordination.k8s.io/v1", "Lease", "present")});
  }
}

}  // namespace

RbacTable make_rbac_table(std::uint64_t seed, std::size_t questions) {
  Draw draw(seed);
  RbacTable table;
  add_objects_to_ask_about(table);
  for (int i = 0; i < 24; ++i) table.users.push_back({"user-" + std::to_string(i), {"group-" + std::to_string(i / 4)}});
  table.users.push_back({"system:serviceaccount:a:robot", {}});
  table.users.push_back({"", {}});
  const std::size_t administrator = table.users.size();
  for (std::size_t i = 0; i < administrator; ++i) {
    for (std::size_t n = 1 + draw.below(2); n > 0; --n)
      grant(table, draw, table.users[i], "role-" + std::to_string(table.objects.size()));
  }
  table.users.push_back({"root", {"system:masters"}});
  for (std::size_t i = 0; i < questions; ++i) {
    const std::size_t user = draw.below(administrator), kind = draw.below(10);
    RbacQuestion question = kind < 4    ? about_object(draw)
                            : kind == 4 ? applying(draw)
                            : kind < 7  ? about_path(draw)
                            : kind == 7 ? acting(draw)
                            : kind == 8 ? review(draw, nullptr)
                                        : review(draw, &table.users[user]);
    question.user = kind == 9 ? administrator : user;
    table.questions.push_back(std::move(question));
  }
  return table;
}

std::string shown(const RbacTable& table, const RbacQuestion& question) {
  const RbacUser& user = table.users[question.user];
  std::string out = user.name + " (";
  for (const auto& group : user.groups) out += group + " ";
  out += "): " + question.method + " " + question.target;
  for (const auto& [name, value] : question.headers) out += "\n  " + name + ": " + value;
  return question.body.empty() ? out : out + "\n  " + question.body;
}

}  // namespace berth::e2e
