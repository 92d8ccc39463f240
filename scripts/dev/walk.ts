/** Prints lines to copy into a shell: the life of a grant, with the key of the sandbox. */
export function walk(address: string, sandboxKey: string): string {
  return `  KEY=${sandboxKey}
  post() { curl -sS "${address}$1" -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d "$2"; echo; }
  field() { node -pe "JSON.parse(require('fs').readFileSync(0)).$1"; }

  AGENT=$(post /v1/agents '{"name":"Travel agent","scopes":["calendar:read"]}' | field agentId)
  CODE=$(post /v1/authorize '{"agentId":"'$AGENT'","principalId":"user_42","scopes":["calendar:read"]}' | field code)
  TOKEN=$(post /v1/token '{"agentId":"'$AGENT'","code":"'$CODE'"}' | field grantToken)
  post /v1/tokens/verify '{"token":"'$TOKEN'"}'
  post /v1/tokens/revoke '{"token":"'$TOKEN'"}'
  post /v1/tokens/verify '{"token":"'$TOKEN'"}'

To decide on the consent page instead, ask without the sandbox's automatic approval, and open the address
that the second line prints. Once you have approved there, the third line gives the code.

  REQUEST=$(post /v1/authorize '{"agentId":"'$AGENT'","principalId":"user_42","scopes":["calendar:read"],"autoApprove":false}')
  printf %s "$REQUEST" | field consentUrl
  post /v1/authorize/$(printf %s "$REQUEST" | field authRequestId)/code '{}'`;
}
