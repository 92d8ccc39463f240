/** How the method of an operation differs from its operation id and from the order path, body or query, options. */
export interface Naming {
  /** The method, from the client on. Default: the operation id. */
  readonly method?: string;
  /** Members of the body or the query that come first, each as an argument of its own. */
  readonly first?: readonly string[];
  /** Members that the method does not take. */
  readonly omits?: readonly string[];
  /** True for a `POST` that changes nothing, which may be repeated like a `GET`. */
  readonly reads?: true;
  /** True where the SDK has the method written by hand. The table then only says what it sends. */
  readonly byHand?: true;
}

/** Operations that no developer's program calls, by the beginning of their ids. */
export const EXEMPT: Readonly<Record<string, string>> = {
  'operations.': 'documents of the operator',
  'pages.': 'files of pages',
  'keys.': 'documents, which the verification reads',
  'consent.': 'the browser of the person calls it',
  'connections.page': 'a page',
  'connections.file': 'a file of a page',
  'connections.open': 'the browser of the person calls it',
  'principals.page': 'a page',
  'principals.file': 'a file of a page',
  'setup.page': 'a page',
  'setup.file': 'a file of a page',
  'agents.did': 'a document',
  'providers.clientDocument': 'a document',
  'verifiableCredentials.statusList': 'a document',
  'verifiableCredentials.tokenStatusList': 'a document',
  'verifiableCredentials.vocabulary': 'a document',
  'billing.webhook': 'the payment provider calls it',
  'policyBundles.push': 'the host of the repository calls it',
  'signals.receive': 'the identity provider calls it',
  'emails.showLink': 'a page',
  'emails.verify': 'the page behind an emailed link calls it',
  'setup.': 'the page behind a setup link calls it',
  'sso.discover': 'a page calls it',
  'sso.logout': 'the browser of the person calls it',
  'sso.directoryPage': 'a page',
  'sso.directoryForm': 'the browser of the person calls it',
  'sso.metadata': 'a document',
  'approver.': 'the browser of an approver calls it',
  'oauth.': 'an OAuth client calls it, with forms and a credential of its own',
  'events.socket': '`events.stream` has the same events in every runtime',
};

/** Credentials of a program. An operation that takes one of them has a method, whatever its id begins with. */
export const OF_PROGRAMS: ReadonlySet<string> = new Set(['developer', 'grant', 'session', 'operator']);

/** Names that older clients use, and arguments that come one by one. */
export const NAMINGS: Readonly<Record<string, Naming>> = {
  'authorization.request': { method: 'authorize', byHand: true },
  'authorization.get': { method: 'authorizations.get' },
  'authorization.cancel': { method: 'authorizations.cancel' },
  'authorization.code': { method: 'authorizations.code' },
  'authorization.approve': { method: 'authorizations.approve' },
  'authorization.deny': { method: 'authorizations.deny' },
  'developers.signUp': { method: 'signup', byHand: true },
  'developers.me': { method: 'me', byHand: true },
  'developers.change': { method: 'updateSettings', byHand: true },
  'keys.list': { method: 'signingKeys.list' },
  'keys.rotate': { method: 'signingKeys.rotate' },
  'keys.retire': { method: 'signingKeys.retire' },
  'operator.entries': { method: 'entries.list' },
  'approvers.recover': { method: 'approverRecoveries.begin' },
  'apiKeys.list': { method: 'keys.list' },
  'apiKeys.create': { method: 'keys.create' },
  'apiKeys.rotate': { method: 'keys.rotate' },
  'apiKeys.revoke': { method: 'keys.revoke' },
  'agents.create': { method: 'agents.register' },
  'agents.change': { method: 'agents.update' },
  'agents.revoke': { method: 'agents.delete' },
  'grants.verify': { first: ['token'], reads: true, byHand: true },
  'tokens.verify': { first: ['token'], reads: true },
  'tokens.introspect': { first: ['token'], reads: true },
  'tokens.revoke': { first: ['jti'], omits: ['token'] },
  'audit.append': { method: 'audit.log' },
  'audit.getErasure': { method: 'audit.erasure' },
  'policies.evaluate': { reads: true },
  'policies.replay': { reads: true },
  'compliance.summary': { method: 'compliance.getSummary' },
  'webhooks.change': { method: 'webhooks.update' },
  'events.stream': { byHand: true },
  'usage.get': { method: 'usage.current' },
  'domains.add': { method: 'domains.create' },
  'billing.subscription': { method: 'billing.getSubscription' },
  'billing.checkout': { method: 'billing.createCheckout' },
  'billing.portal': { method: 'billing.createPortal' },
  'vault.proxyGet': { method: 'vault.fetch', byHand: true },
  'vault.proxyPost': { method: 'vault.fetch', byHand: true },
  'vault.proxyPut': { method: 'vault.fetch', byHand: true },
  'vault.proxyPatch': { method: 'vault.fetch', byHand: true },
  'vault.proxyDelete': { method: 'vault.fetch', byHand: true },
  'enforcement.listTools': { reads: true },
  'principals.openSession': { method: 'principalSessions.create' },
  'principals.grants': { method: 'principal.grants' },
  'principals.audit': { method: 'principal.audit' },
  'principals.revoke': { method: 'principal.revoke' },
  'principals.revokeAll': { method: 'principal.revokeAll' },
  'principals.endSession': { method: 'principal.end' },
  'webauthn.own': { method: 'principal.passkeys' },
  'webauthn.removeOwn': { method: 'principal.removePasskey' },
  'connections.askAsPerson': { method: 'principal.connect' },
  'connections.own': { method: 'principal.connections' },
  'connections.disconnect': { method: 'principal.disconnect' },
  'webauthn.listCredentials': { first: ['principalId'] },
  'verifiableCredentials.issue': { method: 'credentials.issue' },
  'verifiableCredentials.list': { method: 'credentials.list' },
  'verifiableCredentials.get': { method: 'credentials.get' },
  'verifiableCredentials.revoke': { method: 'credentials.revoke' },
  'verifiableCredentials.verify': { method: 'credentials.verify', first: ['vcJwt'], reads: true },
  'verifiableCredentials.present': { method: 'credentials.present', reads: true },
  'scimTokens.create': { method: 'scim.createToken' },
  'scimTokens.list': { method: 'scim.listTokens' },
  'scimTokens.delete': { method: 'scim.revokeToken' },
  'scim.changeUser': { method: 'scim.updateUser' },
  'scim.changeGroup': { method: 'scim.updateGroup' },
  'scim.searchUsers': { reads: true },
  'scim.searchGroups': { reads: true },
  'sso.addConnection': { method: 'sso.createConnection' },
  'sso.changeConnection': { method: 'sso.updateConnection' },
  'sso.enforce': { method: 'sso.setEnforcement' },
  'sso.putConfig': { method: 'sso.createConfig' },
  'sso.login': { method: 'sso.getLoginUrl', byHand: true },
  'sso.callback': { method: 'sso.handleCallback' },
  'sso.callbackOidc': { method: 'sso.handleOidcCallback' },
  'sso.callbackSaml': { method: 'sso.handleSamlCallback' },
  'sso.callbackLdap': { method: 'sso.handleLdapCallback' },
};

/** The names of answers that programs keep, and of common queries. Others are named for their method. */
export const TYPE_NAMES: Readonly<Record<string, string>> = {
  'apiKeys.list Query': 'PageQuery',
  'agents.get': 'Agent',
  'authorization.get': 'AuthorizationRequest',
  'grants.get': 'Grant',
  'developers.me': 'Developer',
  'webhooks.get': 'Webhook',
  'audit.get': 'AuditEntry',
  'policies.get': 'Policy',
  'manifests.get': 'StoredManifest',
  'domains.get': 'Domain',
  'vault.get': 'VaultCredential',
  'providers.get': 'Provider',
  'tokens.exchange': 'TokenSet',
  'sso.getConnection': 'SsoConnection',
  'verifiableCredentials.get': 'VerifiableCredential',
  'budgets.balance': 'Budget',
  'scim.getUser': 'ScimResource',
  'scim.listUsers': 'ScimPage',
  'sso.callback': 'SsoSession',
  'anomalies.getAlert': 'AnomalyAlert',
};

/** Members of queries that are numbers, and that the description has as text because the service says more of a wrong one. */
export const NUMBERS: ReadonlySet<string> = new Set(['days', 'count', 'startIndex']);
