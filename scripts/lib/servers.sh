# Starts API servers to measure and to test against, on free ports of the loopback interface, with all their files in one
# directory. Uses root and die of scripts/lib/common.sh.
# shellcheck shell=bash disable=SC2154

# Prints a port of the loopback interface on which no process listens.
free_port() {
  local port
  while port=$((20000 + RANDOM % 12000)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

# wait_until SECONDS WHAT COMMAND...: waits until the command succeeds. Dies after SECONDS and names WHAT.
wait_until() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || die "$what did not get ready"
    sleep 0.1
  done
}

# start_embedded BERTH DIR [OPTION...]: starts the embedded API server of `berth up`, in memory. The options are for
# `berth up`; default: no nodes. Sets server_pids and kubeconfig.
start_embedded() {
  local berth=$1 dir=$2
  shift 2
  [ $# -gt 0 ] || set -- --nodes none --scale-up none
  kubeconfig=$dir/kubeconfig
  "$berth" up --controller=false --ephemeral "$@" --listen 127.0.0.1:0 --kubeconfig "$kubeconfig" >"$dir/server.log" 2>&1 &
  server_pids=($!)
  wait_until 60 "the embedded API server ($dir/server.log)" grep -q '^ready' "$dir/server.log"
  kubectl --kubeconfig "$kubeconfig" create namespace kueue-system >/dev/null
}

# start_real ASSETS DIR: starts etcd and kube-apiserver from the folder ASSETS. etcd runs without fsync. Sets server_pids
# and kubeconfig.
start_real() {
  local assets=$1 dir=$2 etcd_port peer_port port
  etcd_port=$(free_port)
  peer_port=$(free_port)
  port=$(free_port)
  kubeconfig=$dir/kubeconfig
  openssl genrsa -out "$dir/sa.key" 2048 2>/dev/null
  openssl rsa -in "$dir/sa.key" -pubout -out "$dir/sa.pub" 2>/dev/null
  openssl req -x509 -newkey rsa:2048 -nodes -keyout "$dir/ca.key" -out "$dir/ca.crt" -days 2 -subj /CN=bench 2>/dev/null
  openssl req -newkey rsa:2048 -nodes -keyout "$dir/server.key" -out "$dir/server.csr" -subj /CN=127.0.0.1 2>/dev/null
  openssl x509 -req -in "$dir/server.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -CAcreateserial -out "$dir/server.crt" \
    -days 2 -extfile <(echo 'subjectAltName = IP:127.0.0.1, DNS:localhost') 2>/dev/null
  local token
  token=$(openssl rand -hex 16)
  echo "$token,admin,1,\"system:masters\"" >"$dir/tokens.csv"

  "$assets/etcd" --data-dir "$dir/etcd" --listen-client-urls "http://127.0.0.1:$etcd_port" \
    --advertise-client-urls "http://127.0.0.1:$etcd_port" --listen-peer-urls "http://127.0.0.1:$peer_port" \
    --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" --initial-cluster "default=http://127.0.0.1:$peer_port" \
    --unsafe-no-fsync >"$dir/etcd.log" 2>&1 &
  server_pids=($!)
  "$assets/kube-apiserver" --etcd-servers="http://127.0.0.1:$etcd_port" --bind-address=127.0.0.1 \
    --advertise-address=127.0.0.1 --secure-port="$port" --tls-cert-file="$dir/server.crt" \
    --tls-private-key-file="$dir/server.key" --client-ca-file="$dir/ca.crt" --token-auth-file="$dir/tokens.csv" \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$dir/sa.pub" \
    --service-account-signing-key-file="$dir/sa.key" --service-cluster-ip-range=10.0.0.0/24 --authorization-mode=RBAC \
    --disable-admission-plugins=ServiceAccount >"$dir/server.log" 2>&1 &
  server_pids+=($!)
  printf '%s\n' 'apiVersion: v1' 'kind: Config' 'current-context: bench' \
    'clusters:' "- {name: bench, cluster: {server: 'https://127.0.0.1:$port', certificate-authority: '$dir/ca.crt'}}" \
    'users:' "- {name: bench, user: {token: $token}}" \
    'contexts:' '- {name: bench, context: {cluster: bench, user: bench}}' >"$kubeconfig"
  chmod 600 "$kubeconfig"
  wait_until 90 "kube-apiserver ($dir/server.log)" kubectl --kubeconfig "$kubeconfig" get --raw /readyz
  kubectl --kubeconfig "$kubeconfig" apply --server-side -f "$root/config/crd" -f "$root/config/external/jobsets.yaml" >/dev/null
  kubectl --kubeconfig "$kubeconfig" create namespace kueue-system >/dev/null
  wait_until 60 'the definition of workloads' kubectl --kubeconfig "$kubeconfig" get workloads.kueue.x-k8s.io -A
}

# start_kube_controllers ASSETS DIR: starts the Kubernetes controllers that Berth needs (namespaces, garbage collection,
# Jobs). Call start_real first. Adds to server_pids.
start_kube_controllers() {
  local assets=$1 dir=$2
  [ -x "$assets/kube-controller-manager" ] || die "$assets has no kube-controller-manager"
  "$assets/kube-controller-manager" --kubeconfig "$kubeconfig" --leader-elect=false --secure-port=0 \
    --service-account-private-key-file="$dir/sa.key" --root-ca-file="$dir/ca.crt" \
    --controllers=namespace-controller,garbage-collector-controller,job-controller >"$dir/kube-controllers.log" 2>&1 &
  server_pids+=($!)
}
