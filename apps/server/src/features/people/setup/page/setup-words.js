/** @import { Walkthrough } from './types.js' */
import { translated } from '../../../../platform/page/words.js';

/**
 * Names of parts of a provider's own console stay in English.
 * @type {Record<'okta' | 'entra' | 'google' | 'keycloak', Walkthrough>}
 */
const walkthroughs = {
  okta: {
    label: 'Okta',
    oidc: [
      'Under Applications choose Create App Integration, OIDC and Web Application.',
      'Enter the redirect URI below as the sign-in redirect URI, and assign the people who may sign in.',
      'The issuer URL is the one under Security, API, Authorization Servers, or your Okta address.',
    ],
    saml: [
      'Under Applications choose Create App Integration and SAML 2.0.',
      'Enter the ACS URL below as the single sign-on URL, and the entity ID as the audience URI.',
      'On the Sign On tab copy the metadata URL.',
    ],
    scim: [
      'In the app turn on SCIM provisioning, with the base URL below and userName as the unique identifier.',
      'Choose HTTP Header, paste the token, and turn on Create, Update and Deactivate Users.',
    ],
  },
  entra: {
    label: 'Microsoft Entra ID',
    oidc: [
      'Under App registrations choose New registration, with the redirect URI below for the platform Web.',
      'Under Certificates and secrets make a client secret, and copy its value.',
      'The issuer URL is https://login.microsoftonline.com/TENANT-ID/v2.0.',
    ],
    saml: [
      'Under Enterprise applications make your own application, and choose Single sign-on, SAML.',
      'Enter the entity ID below as the identifier, and the ACS URL as the reply URL.',
      'Copy the App Federation Metadata Url.',
    ],
    scim: [
      'In the enterprise application choose Provisioning, Automatic.',
      'Enter the base URL below as the tenant URL and the token as the secret token, and test the connection.',
    ],
  },
  google: {
    label: 'Google',
    oidc: [
      'In the Google Cloud console make an OAuth client ID for a web application, with the redirect URI below.',
      'The issuer URL is https://accounts.google.com.',
    ],
    saml: [
      'In the Admin console under Apps, Web and mobile apps, add a custom SAML app.',
      'Download the metadata, and paste them here.',
      'Enter the ACS URL and the entity ID below, and turn the app on for your people.',
    ],
    scim: [
      'Google provisions apps of its own catalogue alone. Use a SCIM bridge, with the base URL and token below.',
    ],
  },
  keycloak: {
    label: 'Keycloak',
    oidc: [
      'In your realm make a client of the type OpenID Connect, with Client authentication on and the redirect URI below.',
      'The issuer URL is https://HOST/realms/REALM. The secret is on the tab Credentials.',
    ],
    saml: [
      'In your realm make a client of the type SAML, whose client ID is the entity ID below.',
      'Enter the ACS URL below as the valid redirect URI and the assertion consumer URL; turn on Sign assertions.',
      'The metadata are at https://HOST/realms/REALM/protocol/saml/descriptor.',
    ],
    scim: [
      'Keycloak provisions with an extension that speaks SCIM. Enter the base URL and token below there.',
    ],
  },
};

/** Every sentence of this page. */
export const words = translated({
  loading: 'Opening your setup …',
  heading: 'Set up sign-in for {name}',
  lead: 'You connect the identity provider of {name} with {account}. Keep this window open until you are done: the link opens once.',
  which: 'Your identity provider',
  how: 'Sign in with',
  oidc: 'OpenID Connect',
  saml: 'SAML 2.0',
  sso: 'Single sign-on',
  scim: 'Provisioning',
  redirectUri: 'Redirect URI',
  acsUrl: 'ACS URL',
  entityId: 'Entity ID of the service',
  scimUrl: 'SCIM base URL',
  token: 'SCIM token',
  issuerUrl: 'Issuer URL',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  metadataUrl: 'Address of the provider’s metadata',
  metadata: 'Or the metadata itself (XML)',
  save: 'Save and test',
  working: 'The service tries your provider …',
  works: 'The provider works. Sign-in begins when {account} activates it.',
  fails: 'The provider is saved, and does not work yet: {reason}',
  makeToken: 'Show a SCIM token',
  tokenOnce: 'Copy the token now. It is shown once.',
  copy: 'Copy',
  copied: 'Copied.',
  notCopied: 'Your browser does not let the page copy. The value is selected: copy it yourself.',
  progress: 'Your steps',
  stepsLeft: { 0: 'All steps are done.', 1: '1 step left.', 2: '2 steps left.' },
  stepSso: 'Enter your provider, and see that it works',
  stepScim: 'Give the SCIM token to your provider',
  stepDone: 'Done',
  stepOpen: 'To do',
  done: 'I am done',
  finished: 'Setup finished',
  finishedText: 'The link is used up. You can close this window.',
  next: 'What comes next',
  nextSso:
    '{account} looks at the connection and activates it. From then on people of {name} sign in with it.',
  nextScim:
    'Assign people and groups to the application at your provider. It sends them to {account} on its own.',
  nextChange: 'To change something later, ask {account} for a new link.',
  unusable: 'This link cannot be opened',
  unusableText: 'It was used, has expired or was revoked. Ask for a new link.',
  trouble: 'This did not work',
  troubleText: 'The service did not answer. Try again.',
  framed: 'Open the link in a window of its own.',
  walkthroughs,
});
