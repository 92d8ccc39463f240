/** @import { Walkthrough } from './types.js' */

/**
 * What is done at each provider, for this page and for the console. Names of parts of a provider's own console stay in
 * English.
 * @type {Record<'okta' | 'entra' | 'google' | 'keycloak', Walkthrough>}
 */
export const walkthroughs = {
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
