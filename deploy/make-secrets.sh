#!/bin/sh
# Makes the secrets that compose.yaml mounts, in the folder `secrets` beside this file. Existing secrets stay.
set -eu
umask 077
cd "$(dirname "$0")"
mkdir -p secrets # no other account may enter
cd secrets

# The folder keeps other accounts out. The files are readable, because a container keeps their owner, which is seldom
# the container's user.
keep() {
  if [ -s "$1" ]; then cat > /dev/null; return; fi
  cat > "$1.new"
  chmod 444 "$1.new"
  mv "$1.new" "$1"
}

openssl rand -hex 32 | keep postgres_password
openssl rand -hex 32 | keep redis_password
openssl rand -hex 32 | keep vault_encryption_key
[ -s rsa_private_key.pem ] ||
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:3072 2> /dev/null | keep rsa_private_key.pem

printf 'postgres://behest:%s@/behest?host=/var/run/postgresql\n' "$(cat postgres_password)" | keep database_url
printf 'redis://:%s@redis:6379\n' "$(cat redis_password)" | keep redis_url
printf 'requirepass %s\nsave ""\nappendonly no\nmaxmemory 128mb\nmaxmemory-policy noeviction\n' "$(cat redis_password)" |
  keep redis.conf
