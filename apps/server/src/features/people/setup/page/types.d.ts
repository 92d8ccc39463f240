/** Types of this page's scripts. The service serves no part of this. */

export interface Setup {
  name: string;
  accountName: string;
  purposes: ('sso' | 'scim')[];
  expiresAt: string;
  redirectUri: string;
  acsUrl: string;
  entityId: string;
  scimUrl: string;
  protocol: 'oidc' | 'saml' | 'ldap' | null;
}

export interface Tried {
  success: boolean;
  message?: string;
}

/** The steps at one provider, by what is set up there. */
export interface Walkthrough {
  label: string;
  oidc: string[];
  saml: string[];
  scim: string[];
}
